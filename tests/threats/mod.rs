//! Attacks that the tests of other folders do not cover. docs/security.md names these tests, and those elsewhere.

mod acl;
mod floods;
mod injection;
mod lockout;
mod oracles;
mod page;
mod pollution;
mod rotation;
