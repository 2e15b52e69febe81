# The bash session driver: functions; the loop that uses them is bash_loop.sh.
#
# Requests arrive on descriptor 200: one line "run ID BYTES", then that many bytes of shell text.
# Events leave on descriptor 201 as JSON, one object a line. 202 and 203 are copies of standard
# output and error. All four are closed while a command runs, and lead to the host again after it.
#
# Guaranteed: the shell's variables, functions, aliases, options, traps and directory persist; what
# would end the shell (exit, errexit, an interrupt) ends the call, and a fresh bash in the same
# process takes the state over. Left out: time limits and bounds on output, which the host keeps.

# TEXT as the inside of a JSON string, in __remit_json.
__remit_escape() {
    local LC_ALL=C __r_text=$1 __r_out='' __r_char __r_i
    __r_text=${__r_text//\\/\\\\}
    __r_text=${__r_text//\"/\\\"}
    if [[ $__r_text == *[[:cntrl:]]* ]]; then
        for ((__r_i = 0; __r_i < ${#__r_text}; __r_i++)); do
            __r_char=${__r_text:__r_i:1}
            [[ $__r_char == [[:cntrl:]] ]] && printf -v __r_char '\\u%04x' "'$__r_char"
            __r_out+=$__r_char
        done
        __r_text=$__r_out
    fi
    __remit_json=$__r_text
}

# Reports the end of the call that runs, if one does: STATUS STATE.
__remit_report() {
    [[ -n $__remit_id ]] || return 0
    local __r_exists=true
    [[ -d . && . -ef $PWD ]] || __r_exists=false
    __remit_escape "$PWD"
    builtin printf '{"event":"done","token":"%s","id":%s,"exit_code":%s,"error":null,"shown":[],"cwd":"%s","cwd_exists":%s,"state":"%s"}\n' \
        "$__remit_token" "$__remit_id" "$1" "$__remit_json" "$__r_exists" "$2" >&201
    __remit_id=
}

# Puts the shell's settings aside and the driver's in place: errexit, xtrace and the like would act
# on the driver too. Called first after every command.
__remit_enter() {
    local __r_status=$?
    __remit_running=
    __remit_flags=$-
    set +aefuvxkCPn
    set -B
    local __r_name
    __remit_long=
    for __r_name in posix functrace errtrace pipefail; do
        [[ -o $__r_name ]] && __remit_long+=" $__r_name"
    done
    set +o posix +o functrace +o errtrace +o pipefail
    __remit_nocase=
    shopt -q nocasematch && __remit_nocase=1 && shopt -u nocasematch
    return $__r_status
}

# The settings of the session again.
__remit_leave() {
    local __r_name __r_flags=
    [[ $__remit_nocase ]] && shopt -s nocasematch
    for __r_name in $__remit_long; do set -o "$__r_name"; done
    for __r_name in a f k C P u v x e; do
        [[ $__remit_flags == *$__r_name* ]] && __r_flags+=$__r_name
    done
    [[ $__remit_flags == *B* ]] || set +B
    [[ -z $__r_flags ]] || set -"$__r_flags"
    return 0
}

# Waits for the next request, in __remit_code; ends the driver when the host is gone.
__remit_next() {
    __remit_enter
    local LC_ALL=C IFS=' ' __r_op __r_id __r_bytes __r_status
    __remit_report "$1" kept
    while :; do
        builtin read -r -u 200 __r_op __r_id __r_bytes
        __r_status=$?
        ((__r_status > 128)) && continue
        ((__r_status == 0)) || { builtin trap - EXIT; builtin exit 0; }
        [[ $__r_op == run ]] && break
    done
    IFS= builtin read -r -N "$__r_bytes" -u 200 __remit_code
    __remit_id=$__r_id
    if [[ $! != "$__remit_newest" ]]; then
        __remit_newest=$!
        __remit_jobs=$(builtin jobs -p)
    fi
    builtin read -r __remit_begun _ </proc/uptime
    __remit_foresee
    builtin trap '__remit_signal 2' INT
    builtin trap '{ __remit_exit $? "$@"; } 2>/dev/null' EXIT
    __remit_running=1
    __remit_leave
}

# What a signal does that would end bash: it ends the call that runs. Number.
__remit_signal() {
    [[ -n $__remit_running ]] || return 0
    (($1 == 2)) && __remit_interrupted=1
    builtin exit $((128 + $1))
}

# Where bash will put the copies of 200, 201, 1 and 2 that it keeps while a command runs: the first
# free descriptors from 10 on. The copy of standard error that it keeps just now, for the call of
# this function, lies among them and will be free.
__remit_foresee() {
    local __r_fd __r_mine= __r_dir=/proc/$BASHPID/fd
    __remit_kept=()
    for ((__r_fd = 10; ${#__remit_kept[@]} < 4; __r_fd++)); do
        if [[ ! -e $__r_dir/$__r_fd ]]; then
            [[ -z $__r_mine ]] || __remit_kept+=("$__r_mine")
            __r_mine=
            __remit_kept+=("$__r_fd")
        elif ((${#__remit_kept[@]} == 0)) && [[ $__r_dir/$__r_fd -ef $__r_dir/203 ]]; then
            __r_mine=$__r_fd
        fi
    done
}

# The four descriptors again, where the shell ended inside a function and bash did not restore them.
__remit_reclaim() {
    : >&201 && return 0
    set -- "${__remit_kept[@]:0:4}"
    [[ -e /proc/$BASHPID/fd/$4 ]] || return 1
    # Bash marks a copy closed on exec where the original is, but for descriptors up to 2.
    local __r_fd __r_to=200
    for __r_fd; do
        eval "exec 2>&$__r_fd; exec $__r_to>&2 $__r_fd>&-"
        __r_to=$((__r_to + 1))
    done
    exec 2>/dev/null
}

# Ends what the interrupted call left behind: every process of the driver's group that was born
# since the call began (in clock ticks, of which /proc counts 100 a second) and does not descend
# from a job of an earlier call.
__remit_kill_new() {
    local IFS=' ' __r_stat __r_line __r_pid __r_above __r_fields=() __r_group
    local __r_start=${__remit_begun/./}
    local -A __r_parent=() __r_born=()
    builtin read -r __r_line <"/proc/$BASHPID/stat"
    __r_fields=(${__r_line##*) })
    __r_group=${__r_fields[2]}
    for __r_stat in /proc/[0-9]*/stat; do
        builtin read -r __r_line <"$__r_stat" || continue
        __r_pid=${__r_line%% *} __r_fields=(${__r_line##*) })
        [[ $__r_pid != "$BASHPID" && ${__r_fields[2]} == "$__r_group" ]] || continue
        __r_parent[$__r_pid]=${__r_fields[1]} __r_born[$__r_pid]=${__r_fields[19]}
    done
    for __r_pid in "${!__r_parent[@]}"; do
        ((__r_born[$__r_pid] >= 10#$__r_start)) || continue
        for ((__r_above = __r_pid; __r_above; __r_above = ${__r_parent[$__r_above]:-0})); do
            [[ $'\n'$__remit_jobs$'\n' == *$'\n'$__r_above$'\n'* ]] && continue 2
        done
        builtin kill -KILL "$__r_pid"
    done
}

# The shell's state, as text that makes it again; the arguments are the positional ones.
__remit_dump() {
    local __remit_name
    builtin printf 'set --'
    (($#)) && builtin printf ' %q' "$@"
    builtin printf '\n'
    shopt -p
    for __remit_name in $(compgen -v); do
        case $__remit_name in
            BASH | BASHOPTS | BASHPID | BASH_* | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME | \
                GROUPS | HISTCMD | LINENO | OLDPWD | OPTIND | PIPESTATUS | PPID | PWD | RANDOM | \
                SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID | _ | __r_* | __remit_* | IFS) ;;
            *) declare -p "$__remit_name" ;;
        esac
    done
    declare -p IFS
    declare -f
    alias -p
    builtin printf '%s\n' "$__remit_traps"
    umask -p
}

# The traps as text, in __remit_traps. A subshell cannot tell them, so they go through a pipe that
# this shell holds at both ends.
__remit_tell_traps() {
    local __r_pipe
    exec {__r_pipe}<> <(:)
    { builtin trap -p && builtin printf '\0'; } >&"$__r_pipe"
    IFS= builtin read -r -d '' -u "$__r_pipe" __remit_traps
    exec {__r_pipe}>&-
}

# What would end the shell ends up here: the state goes on in a fresh bash. STATUS ARGUMENTS.
__remit_exit() {
    __remit_enter
    local __r_status=$1 __r_state __r_line
    shift
    [[ $BASHPID == "$__remit_pid" ]] || return "$__r_status"
    __remit_reclaim || return "$__r_status"
    if [[ -n $__remit_on_exit ]]; then
        __r_line=$__remit_on_exit
        __remit_on_exit=
        eval "(exit $__r_status); $__r_line" 200<&- 201>&- 1>&202 2>&203 202>&- 203>&- 0</dev/null
    fi
    builtin trap : INT
    [[ -z $__remit_interrupted ]] || __remit_kill_new
    __remit_tell_traps
    exec {__r_state}< <(__remit_dump "$@")
    exec "$BASH" --norc --noprofile -c "$BASH_EXECUTION_STRING" bash "$__remit_library" 200 201 \
        "$__r_state" "$__remit_id" "$__r_status" "$__remit_token" "$__remit_flags" "$__remit_long" \
        "$__remit_nocase"
}

# Traps on EXIT belong to the session, not to the process: kept here, and run once by exit.
trap() {
    if [[ $BASHPID != "$__remit_pid" || $# -lt 2 || $1 == -[lp]* ]]; then
        builtin trap "$@"
        return
    fi
    [[ $1 == -- ]] && shift
    local __r_handler=$1 __r_status=0 __r_signal
    # The driver's own come along when a state is restored.
    [[ $__r_handler == *__remit_* ]] && return 0
    for __r_signal in "${@:2}"; do
        case $__r_signal in
            0 | EXIT | exit | Exit)
                __remit_on_exit=$__r_handler
                [[ $__r_handler == - ]] && __remit_on_exit=
                ;;
            *) builtin trap -- "$__r_handler" "$__r_signal" || __r_status=$? ;;
        esac
    done
    return $__r_status
}

# LIBRARY IN OUT, and from a bash before this one STATE ID STATUS TOKEN FLAGS LONG NOCASE.
__remit_start() {
    local __r_signal __r_part
    # Until the state is there; __remit_next takes it on.
    builtin trap '' INT
    for __r_signal in 1 3 10 12 13 14 15 24 25 26; do
        builtin trap "__remit_signal $__r_signal" "$__r_signal"
    done
    __remit_library=$1 __remit_pid=$BASHPID __remit_id= __remit_on_exit= __remit_interrupted=
    __remit_newest= __remit_jobs= __remit_restored= __remit_status=
    if (($# == 3)); then
        exec 202>&1 203>&2 200<&"$2" 201>&"$3"
        (($2 == 200)) || eval "exec $2<&-"
        (($3 == 201 || $3 == $2)) || eval "exec $3>&-"
        shopt -s expand_aliases execfail
        __remit_flags=B __remit_long= __remit_nocase=
        IFS= builtin read -r -u 200 __remit_token
        builtin printf '{"event":"ready","token":"%s","pid":%s,"version":"%s"}\n' \
            "$__remit_token" "$$" "$BASH_VERSION" >&201
    else
        exec 1>&202 2>&203
        while IFS= builtin read -r -N 65536 -u "$4" __r_part; do __remit_restored+=$__r_part; done
        __remit_restored+=$__r_part
        eval "exec $4<&-"
        __remit_id=$5 __remit_status=$6 __remit_token=$7
        __remit_flags=$8 __remit_long=$9 __remit_nocase=${10}
    fi
}

# After the state is there again: reports the call that ended the bash before.
__remit_resume() {
    __remit_restored=
    builtin trap '__remit_signal 2' INT
    __remit_report "$__remit_status" restored
    __remit_leave
}
