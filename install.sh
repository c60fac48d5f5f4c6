#!/bin/sh
# Installs the command `ptc` from a release: downloads the archive for this machine, checks its SHA-256 and copies the
# binary into a folder. Needs no root; see `--help`.
set -eu

REPOSITORY=https://github.com/OWNER/ptc

usage() {
  cat <<END
Installs the command ptc.

Usage: install.sh [--version VERSION]

  --version VERSION    Install this release, for example 0.1.0 (default: the latest)
  --help               Print this text

  PTC_INSTALL_DIR      Folder for the binary (default: ~/.local/bin)
  PTC_INSTALL_FROM     Address of a mirror (default: $REPOSITORY/releases)
END
}

say() { printf 'install.sh: %s\n' "$1" >&2; }

fail() {
  say "$1"
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The archives for Linux are static, so they run with any C library.
target() {
  system=$(uname -s)
  machine=$(uname -m)
  # A shell under Rosetta says x86_64.
  if [ "$system" = Darwin ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null || true)" = 1 ]; then machine=arm64; fi
  case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) system=unknown ;;
  esac
  case $system in
    Linux) echo "$machine-unknown-linux-musl" ;;
    Darwin) echo "$machine-apple-darwin" ;;
    *) fail "no binary for $(uname -s) on $(uname -m); build it: cargo install --locked ptc-cli" ;;
  esac
}

# download URL FILE. An HTTPS address may redirect to nothing but HTTPS; wget has no such option.
download() {
  if has curl; then
    case $1 in
      https://*) curl --proto '=https' --tlsv1.2 -fsSL --retry 3 -o "$2" "$1" ;;
      *) curl -fsSL -o "$2" "$1" ;;
    esac
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail "install curl or wget first"
  fi || fail "cannot download $1: check the network, and that the release exists"
}

sha256() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "install sha256sum, shasum or openssl first: without one of them the download cannot be checked"
  fi
}

# Everything is in a function, so that a script that arrives only in part does nothing.
main() {
  version=latest
  while [ $# -gt 0 ]; do
    case $1 in
      --version)
        [ $# -ge 2 ] || { say "--version needs a value, for example 0.1.0"; exit 2; }
        version=${2#v}
        shift
        ;;
      --version=*)
        version=${1#--version=}
        version=${version#v}
        ;;
      -h | --help)
        usage
        exit 0
        ;;
      *)
        say "unknown argument $1"
        usage >&2
        exit 2
        ;;
    esac
    shift
  done

  case $version in
    '' | *[!0-9A-Za-z.+-]*)
      say "no such version: $version; write, for example, --version 0.1.0"
      exit 2
      ;;
  esac

  folder=${PTC_INSTALL_DIR:-}
  if [ -z "$folder" ]; then
    [ -n "${HOME:-}" ] || fail "set PTC_INSTALL_DIR: there is no HOME"
    folder=$HOME/.local/bin
  fi
  name=ptc-$(target)
  from=${PTC_INSTALL_FROM:-$REPOSITORY/releases}
  case $version in
    latest) from=$from/latest/download ;;
    *) from=$from/download/v$version ;;
  esac

  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  download "$from/SHA256SUMS" "$work/SHA256SUMS"
  download "$from/$name.tar.gz" "$work/$name.tar.gz"
  wanted=$(awk -v file="$name.tar.gz" '$2 == file || $2 == "*" file { print $1; exit }' "$work/SHA256SUMS")
  [ -n "$wanted" ] || fail "SHA256SUMS of the release does not list $name.tar.gz; nothing was installed"
  found=$(sha256 "$work/$name.tar.gz")
  [ "$found" = "$wanted" ] ||
    fail "$name.tar.gz has the SHA-256 $found instead of $wanted; nothing was installed. Try again, or report it"

  tar -xzf "$work/$name.tar.gz" -C "$work" || fail "cannot unpack $name.tar.gz"
  installed=$("$work/$name/ptc" --version) || fail "the binary in $name.tar.gz does not run on this machine"
  mkdir -p "$folder" || fail "cannot create $folder; choose another folder with PTC_INSTALL_DIR"
  # Renamed into place: a running ptc keeps its file, and there is never half of one.
  { cp "$work/$name/ptc" "$folder/.ptc.$$" && chmod 755 "$folder/.ptc.$$" && mv -f "$folder/.ptc.$$" "$folder/ptc"; } || {
    rm -f "$folder/.ptc.$$"
    fail "cannot write to $folder; choose another folder with PTC_INSTALL_DIR"
  }
  say "installed $installed as $folder/ptc"
  case :$PATH: in
    *":$folder:"*) ;;
    *) say "add it to your path: export PATH=\"$folder:\$PATH\"" ;;
  esac
}

main "$@"
