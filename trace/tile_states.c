#include "trace/tile_states.h"

struct sc_tile_states sc_tile_states_new(const struct sc_event *event)
{
    return (struct sc_tile_states){.all = event->laid.sectors, .state = {[SC_MSI_C] = event->laid.sectors}};
}

uint64_t sc_tile_states_follow(struct sc_tile_states *tile, const struct sc_event *event)
{
    uint64_t sectors = event->new_state <= SC_MSI_G ? event->sectors & tile->all : 0;

    for (int s = 0; sectors && s < 3; s++)
        tile->state[s] = s == event->new_state ? tile->state[s] | sectors : tile->state[s] & ~sectors;
    return sectors;
}
/* SPDX-License-Identifier: BSD-2-Clause */
