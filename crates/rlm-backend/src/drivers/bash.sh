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
    local LC_ALL=C text=$1 out='' char i
    text=${text//\\/\\\\}
    text=${text//\"/\\\"}
    if [[ $text == *[[:cntrl:]]* ]]; then
        for ((i = 0; i < ${#text}; i++)); do
            char=${text:i:1}
            [[ $char == [[:cntrl:]] ]] && printf -v char '\\u%04x' "'$char"
            out+=$char
        done
        text=$out
    fi
    __remit_json=$text
}

# Reports the end of the call that runs, if one does: STATUS STATE.
__remit_report() {
    [[ -n $__remit_id ]] || return 0
    local exists=true
    [[ -d . && . -ef $PWD ]] || exists=false
    __remit_escape "$PWD"
    builtin printf '{"event":"done","token":"%s","id":%s,"exit_code":%s,"error":null,"shown":[],"cwd":"%s","cwd_exists":%s,"state":"%s"}\n' \
        "$__remit_token" "$__remit_id" "$1" "$__remit_json" "$exists" "$2" >&201
    __remit_id=
}

# Puts the shell's settings aside and the driver's in place: errexit, xtrace and the like would act
# on the driver too. Called first after every command.
__remit_enter() {
    local status=$?
    __remit_flags=$-
    set +aefuvxkCPn
    set -B
    local name
    __remit_long=
    for name in posix functrace errtrace pipefail; do
        [[ -o $name ]] && __remit_long+=" $name"
    done
    set +o posix +o functrace +o errtrace +o pipefail
    __remit_nocase=
    shopt -q nocasematch && __remit_nocase=1 && shopt -u nocasematch
    return $status
}

# The settings of the session again.
__remit_leave() {
    local name flags=
    [[ $__remit_nocase ]] && shopt -s nocasematch
    for name in $__remit_long; do set -o "$name"; done
    for name in a f k C P u v x e; do
        [[ $__remit_flags == *$name* ]] && flags+=$name
    done
    [[ $__remit_flags == *B* ]] || set +B
    [[ -z $flags ]] || set -"$flags"
    return 0
}

# Waits for the next request, in __remit_code; ends the driver when the host is gone.
__remit_next() {
    __remit_enter
    local LC_ALL=C IFS=' ' op id bytes status
    __remit_report "$1" kept
    while :; do
        read -r -u 200 op id bytes
        status=$?
        ((status > 128)) && continue
        ((status == 0)) || { builtin trap - EXIT; exit 0; }
        [[ $op == run ]] && break
    done
    IFS= read -r -N "$bytes" -u 200 __remit_code
    __remit_id=$id
    if [[ $! != "$__remit_newest" ]]; then
        __remit_newest=$!
        __remit_jobs=$(jobs -p)
    fi
    read -r __remit_begun _ </proc/uptime
    __remit_foresee
    builtin trap '__remit_signal 2' INT
    builtin trap '{ __remit_exit $? "$@"; } 2>/dev/null' EXIT
    __remit_leave
}

# What a signal does that would end bash: it ends the call that runs. Number.
__remit_signal() {
    [[ -n $__remit_id ]] || return 0
    (($1 == 2)) && __remit_interrupted=1
    exit $((128 + $1))
}

# Where bash will put the copies of 200, 201, 1 and 2 that it keeps while a command runs: the first
# free descriptors from 10 on. The copy of standard error that it keeps just now, for the call of
# this function, lies among them and will be free.
__remit_foresee() {
    local fd mine= dir=/proc/$BASHPID/fd
    __remit_kept=()
    for ((fd = 10; ${#__remit_kept[@]} < 4; fd++)); do
        if [[ ! -e $dir/$fd ]]; then
            [[ -z $mine ]] || __remit_kept+=("$mine")
            mine=
            __remit_kept+=("$fd")
        elif ((${#__remit_kept[@]} == 0)) && [[ $dir/$fd -ef $dir/203 ]]; then
            mine=$fd
        fi
    done
}

# The four descriptors again, where the shell ended inside a function and bash did not restore them.
__remit_reclaim() {
    : >&201 && return 0
    set -- "${__remit_kept[@]:0:4}"
    [[ -e /proc/$BASHPID/fd/$4 ]] || return 1
    # Bash marks a copy closed on exec where the original is, but for descriptors up to 2.
    local fd to=200
    for fd; do
        eval "exec 2>&$fd; exec $to>&2 $fd>&-"
        to=$((to + 1))
    done
    exec 2>/dev/null
}

# Ends what the interrupted call left behind: every process of the driver's group that was born
# since the call began (in clock ticks, of which /proc counts 100 a second) and does not descend
# from a job of an earlier call.
__remit_kill_new() {
    local stat line pid above IFS=' ' fields=() start=${__remit_begun/./} group
    local -A parent=() born=()
    read -r line <"/proc/$BASHPID/stat"
    fields=(${line##*) })
    group=${fields[2]}
    for stat in /proc/[0-9]*/stat; do
        read -r line <"$stat" || continue
        pid=${line%% *} fields=(${line##*) })
        [[ $pid != "$BASHPID" && ${fields[2]} == "$group" ]] || continue
        parent[$pid]=${fields[1]} born[$pid]=${fields[19]}
    done
    for pid in "${!parent[@]}"; do
        ((born[$pid] >= 10#$start)) || continue
        for ((above = pid; above; above = ${parent[$above]:-0})); do
            [[ $'\n'$__remit_jobs$'\n' == *$'\n'$above$'\n'* ]] && continue 2
        done
        kill -KILL "$pid"
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
                SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID | _ | __remit_* | IFS) ;;
            *) declare -p "$__remit_name" ;;
        esac
    done
    declare -p IFS
    declare -f
    alias -p
    builtin trap -p | __remit_foreign_traps
    umask -p
}

# The trap lines but those that are the driver's.
__remit_foreign_traps() {
    local line
    while IFS= read -r line; do
        [[ $line == *__remit_* ]] || builtin printf '%s\n' "$line"
    done
}

# What would end the shell ends up here: the state goes on in a fresh bash. STATUS ARGUMENTS.
__remit_exit() {
    __remit_enter
    local status=$1 state line
    shift
    [[ $BASHPID == "$__remit_pid" ]] || return "$status"
    __remit_reclaim || return "$status"
    if [[ -n $__remit_on_exit ]]; then
        line=$__remit_on_exit
        __remit_on_exit=
        eval "(exit $status); $line" 200<&- 201>&- 1>&202 2>&203 202>&- 203>&- 0</dev/null
    fi
    [[ -z $__remit_interrupted ]] || __remit_kill_new
    exec {state}< <(__remit_dump "$@")
    exec "$BASH" --norc --noprofile -c "$BASH_EXECUTION_STRING" bash "$__remit_library" 200 201 \
        "$state" "$__remit_id" "$status" "$__remit_token" "$__remit_flags" "$__remit_long" \
        "$__remit_nocase"
}

# Traps on EXIT belong to the session, not to the process: kept here, and run once by exit.
trap() {
    if [[ $BASHPID != "$__remit_pid" || $# -lt 2 || $1 == -[lp]* ]]; then
        builtin trap "$@"
        return
    fi
    [[ $1 == -- ]] && shift
    local handler=$1 status=0 signal
    for signal in "${@:2}"; do
        case $signal in
            0 | EXIT | exit | Exit)
                __remit_on_exit=$handler
                [[ $handler == - ]] && __remit_on_exit=
                ;;
            *) builtin trap -- "$handler" "$signal" || status=$? ;;
        esac
    done
    return $status
}

# LIBRARY IN OUT, and from a bash before this one STATE ID STATUS TOKEN FLAGS LONG NOCASE.
__remit_start() {
    __remit_library=$1 __remit_pid=$BASHPID __remit_id= __remit_on_exit= __remit_interrupted=
    __remit_newest= __remit_jobs= __remit_restored= __remit_status=
    local signal
    for signal in 1 3 10 12 13 14 15 24 25 26; do
        builtin trap "__remit_signal $signal" "$signal"
    done
    if (($# == 3)); then
        exec 202>&1 203>&2 200<&"$2" 201>&"$3"
        (($2 == 200)) || eval "exec $2<&-"
        (($3 == 201 || $3 == $2)) || eval "exec $3>&-"
        shopt -s expand_aliases execfail
        __remit_flags=B __remit_long= __remit_nocase=
        IFS= read -r -u 200 __remit_token
        builtin printf '{"event":"ready","token":"%s","pid":%s,"version":"%s"}\n' \
            "$__remit_token" "$$" "$BASH_VERSION" >&201
    else
        exec 1>&202 2>&203
        IFS= read -r -d '' -u "$4" __remit_restored
        eval "exec $4<&-"
        __remit_id=$5 __remit_status=$6 __remit_token=$7
        __remit_flags=$8 __remit_long=$9 __remit_nocase=${10}
    fi
}

# After the state is there again: reports the call that ended the bash before.
__remit_resume() {
    __remit_restored=
    __remit_report "$__remit_status" restored
    __remit_leave
}
