# Tests of autotuner
AUTOTUNER_TESTS = tests/autotuner_decision tests/autotuner_database tests/autotuner_linkmap tests/autotuner_plan \
	tests/autotuner_start tests/autotuner_schedule tests/autotuner_regret tests/autotuner_exchange \
	tests/autotuner_strips tests/autotuner_trials tests/autotuner_joules tests/autotuner_policy \
	tests/autotuner_again tests/autotuner_host_rates
check_PROGRAMS += $(AUTOTUNER_TESTS)
TESTS += $(AUTOTUNER_TESTS)
tests_autotuner_decision_SOURCES = tests/autotuner_decision.c
tests_autotuner_decision_LDADD = libcore.la -lm
tests_autotuner_regret_SOURCES = tests/autotuner_regret.c
tests_autotuner_regret_LDADD = libcore.la -lm
tests_autotuner_database_SOURCES = tests/autotuner_database.c tests/heard.h
tests_autotuner_database_LDADD = libcore.la -lm
tests_autotuner_exchange_SOURCES = tests/autotuner_exchange.c tests/device_common.h
tests_autotuner_exchange_LDADD = libcore.la -lm
tests_autotuner_joules_SOURCES = tests/autotuner_joules.c tests/device_common.h
tests_autotuner_joules_LDADD = libcore.la -lm
tests_autotuner_joules_LDFLAGS = -Wl,--wrap=nanosleep
tests_autotuner_linkmap_SOURCES = tests/autotuner_linkmap.c tests/device_common.h
tests_autotuner_linkmap_LDADD = libcore.la -lm
tests_autotuner_policy_SOURCES = tests/autotuner_policy.c
tests_autotuner_policy_LDADD = libcore.la -lm
tests_autotuner_again_SOURCES = tests/autotuner_again.c
tests_autotuner_again_LDADD = libcore.la -lm
tests_autotuner_host_rates_SOURCES = tests/autotuner_host_rates.c
tests_autotuner_host_rates_LDADD = libcore.la -lm
tests_autotuner_plan_SOURCES = tests/autotuner_plan.c
tests_autotuner_plan_LDADD = libcore.la -lm
tests_autotuner_schedule_SOURCES = tests/autotuner_schedule.c
tests_autotuner_schedule_LDADD = libcore.la -lm
tests_autotuner_start_SOURCES = tests/autotuner_start.c tests/device_common.h
tests_autotuner_start_LDADD = libcore.la
tests_autotuner_strips_SOURCES = tests/autotuner_strips.c
tests_autotuner_strips_LDADD = libcore.la -lm
tests_autotuner_trials_SOURCES = tests/autotuner_trials.c
tests_autotuner_trials_LDADD = libcore.la -lm

# The cost of a plan by instructions.
check_PROGRAMS += tests/plan_cost
tests_plan_cost_SOURCES = tests/plan_cost.c
tests_plan_cost_LDADD = libcore.la -lm
dist_check_SCRIPTS += tests/plan_cost.t
TESTS += tests/plan_cost.t

# Which variables the folder has.
TESTS += tests/autotuner_memory.t
EXTRA_DIST += tests/autotuner_memory.t
# SPDX-License-Identifier: BSD-2-Clause
