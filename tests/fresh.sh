#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fresh.sh SYSTEM: makes a bare Debian system of this name (bookworm, trixie, testing), and runs the README's two commands in it, word for
# word, as a reader would who has just cloned the repository. For `make check-fresh`. Root, debootstrap, and a mirror that apt knows are
# needed; the system goes to a scratch folder. Ends with status 77, and says why, where no such system can be made.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
system=${1:?usage: fresh.sh bookworm|trixie|testing}
here=$PWD
root=${FRESH_DIR:-${TMPDIR:-/var/tmp}}

# What the system prints, and why it was not tried.
log=$here/build/fresh/$system.log
mkdir -p "${log%/*}"

# not_here WHY: ends the script: this machine cannot try the system.
not_here() {
    echo "check-fresh: $system was not tried: $1" | tee "$log"
    exit 77
}

# The script runs again in a namespace for mounts of its own, so that they end with it, whatever happens.
if [ -z "${FRESH_INSIDE-}" ]; then
    [ "$(id -u)" -eq 0 ] || not_here 'it needs root'
    command -v debootstrap >/dev/null || not_here 'it needs debootstrap'
    unshare --mount --propagation private true 2>/dev/null || not_here 'this system does not permit mounts'
    root=$(mktemp -d "$root/fresh.XXXXXX") || not_here 'there is no scratch folder'
    FRESH_INSIDE=$root unshare --mount --propagation private "$0" "$system"
    status=$?
    rm -rf --one-file-system "$root"
    exit "$status"
fi
root=$FRESH_INSIDE

# mirror: prints the address of a Debian mirror: the one of this machine's apt.
mirror() {
    local sites
    # shellcheck disable=SC2016 # apt expands it
    sites=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 2>/dev/null
        sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null)
    grep -E '/debian/?$' <<<"$sites" | head -1
}

mirror=$(mirror)
[ "$mirror" ] || not_here "apt's configuration names no mirror of Debian"
proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy 2>/dev/null | head -1)
[ -z "$proxy" ] || export http_proxy=$proxy
debootstrap --variant=minbase "$system" "$root" "$mirror" >"$log" 2>&1 || { tail -5 "$log"; not_here 'debootstrap failed'; }
[ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$root/etc/apt/apt.conf.d/00proxy"
# A mirror may be a snapshot that is older than the week for which a Release of testing is valid.
[ "$system" != testing ] || echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/00snapshot"
{ mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"; } || not_here 'proc and dev cannot be mounted'
[ -e "$root/dev/pts/ptmx" ] || mount -t devpts devpts "$root/dev/pts" || not_here 'devpts cannot be mounted'

# inside COMMAND: runs a command of bash in the new system, in a copy of the sources.
inside() {
    chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm DEBIAN_FRONTEND=noninteractive \
        bash -c "cd '$here' && $1" </dev/null
}

# command_of NAME: prints the README's command below the comment <!-- NAME -->.
command_of() {
    awk -v mark="<!-- $1 -->" '$0 == mark { on = 1; next } on && /^```/ { if (open) exit; open = 1; next } on && open' README.md
}

mkdir -p "$root$here"
# shellcheck disable=SC2016 # sh expands it
{ git ls-files -z -co --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -print0; } |
    xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh | tar --null -T - -c | tar -x -C "$root$here" || exit 1

# The packages first, again if the network fails: what follows must not fail for it. A package that the system lacks is a fault of README.
for name in demo test; do
    packages=$(command_of $name | sed -n "s/.*apt-get install -y \([^'&]*\).*/\1/p")
    [ "$packages" ] || { echo "check-fresh: README.md has no command that installs packages below <!-- $name -->"; exit 1; }
    for try in 1 2 3; do
        inside "apt-get update -qq && apt-get install -y -qq --download-only $packages" >"$log" 2>&1 && break
        if grep -E 'Unable to locate package|has no installation candidate' "$log"; then exit 1; fi
        [ $try != 3 ] || { tail -5 "$log"; not_here 'its packages cannot be fetched'; }
        sleep 10
    done
done

echo "check-fresh: $system, $(inside 'cat /etc/debian_version; uname -m; sed -n "s/^Date: //p" /var/lib/apt/lists/*_InRelease' | xargs)"
for name in demo test; do
    command=$(command_of $name)
    printf '\n$ %s\n' "$command"
    start=$SECONDS
    inside "$command" >"$log" 2>&1 || { grep -A 20 '^not ok' "$log"; tail -20 "$log"; echo "check-fresh: $system: the README's command fails"; exit 1; }
    grep -E '^not ok|# skip' "$log"
    tail -3 "$log"
    echo "($((SECONDS - start)) s)"
done
echo "check-fresh: $system: both commands of the README work"
