#!/bin/sh
# Code that runs in the signal handler imports only async-signal-safe symbols: no libc function, and no lazily allocated
# thread-local storage (__tls_get_addr).
dir=$top_builddir/host
case $(command -v nm) in '') echo "1..0 # SKIP no nm"; exit 0 ;; esac
echo 1..5
n=0
check() # object, allowed symbols
{
    object=$dir/.libs/libcore_la-$1.o
    test -f "$object" || object=$dir/libcore_la-$1.o
    n=$((n + 1))
    list=$(nm -u "$object" | awk '{ print $NF }') || list=unreadable
    bad=
    for symbol in $list; do
        case " $2 " in *" $symbol "*) ;; *) bad="$bad $symbol" ;; esac
    done
    if test -f "$object" && test -z "$bad"; then
        echo "ok $n - $1 imports only what is allowed in a handler"
    else
        echo "not ok $n - $1 imports only what is allowed in a handler"
        echo "# $object:$bad"
    fi
}
common='_GLOBAL_OFFSET_TABLE_ __stack_chk_fail'
check fault_sig "$common sc_host_arena sc_host_zone sc_host_hull sc_host_prot sc_host_prot_changes \
    sc_host_strict_selector sc_inside_depth sc_host_watched sc_watch_find sc_watch_prot sc_watch_was"
check watch_sig "$common"
check chain_sig "$common sc_host_strict_selector sc_fault_sig_home"
# The two front ends also contain the installation, which runs in ordinary code.
check front_sigaction "$common sc_fault_sig_serve sc_chain_sig_pass sc_host_signals_take sc_host_signals_give_back"
check front_sigsegv "$common sc_fault_sig_serve sc_fault_sig_ours sc_chain_sig_pass \
    sc_host_signals_take sc_host_signals_give_back \
    sc_loader_same sc_log sc_host_real_sigaction sigsegv_install_handler sigsegv_deinstall_handler"
# SPDX-License-Identifier: BSD-2-Clause
