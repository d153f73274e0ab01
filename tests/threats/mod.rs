//! What attackers try, where no other test shows what comes of it. docs/security.md names these tests, and those elsewhere.

mod acl;
mod floods;
mod injection;
mod lockout;
mod oracles;
mod page;
mod rotation;
