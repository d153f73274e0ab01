# Functions that check and install required programs. Sourced by the other scripts.

step() { printf '\n== %s\n' "$*" >&2; }

need() { # command, Debian package
  command -v "$1" >/dev/null || install "$1" "$2"
}

# The same for several programs. Missing packages are installed together.
need_all() { # command, Debian package, command, Debian package, ..
  local programs=() packages=()
  while [ $# -gt 0 ]; do
    command -v "$1" >/dev/null || { programs+=("$1"); packages+=("$2"); }
    shift 2
  done
  [ ${#packages[@]} = 0 ] || install "${programs[*]}" "${packages[@]}"
}

need_rust() {
  if ! command -v cargo >/dev/null; then
    echo "$0 needs Rust 1.88 or later with rustfmt and clippy: see https://rustup.rs" >&2
    exit 1
  fi
  need cc gcc
}

# Installs the minimum Rust version of Cargo.toml with rustup, and sets `oldest` to it.
need_oldest_rust() {
  oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
  rustup run "$oldest" cargo --version >/dev/null 2>&1 || rustup toolchain install "$oldest" --profile minimal --no-self-update
}

# Installs Debian packages, or prints what to install on other systems.
install() { # programs, Debian packages
  local programs="$1"
  shift
  step "installing $*"
  if ! command -v apt-get >/dev/null; then
    echo "$0 needs $programs: install it (its Debian package is $*) and run this again" >&2
    exit 1
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    echo "$0 needs $programs: install $* as root" >&2
    exit 1
  fi
  as_root apt-get update -qq >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

as_root() { # command
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
