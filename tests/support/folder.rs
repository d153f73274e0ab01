//! A temporary folder that is removed on drop.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use super::project::target;

pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        Self::within(&target().join("tmp"), name)
    }

    /// A folder with a short path, for Unix sockets: their paths are limited to about 100 bytes.
    pub fn short(name: &str) -> Self {
        Self::within(&std::env::temp_dir(), name)
    }

    fn within(parent: &Path, name: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        std::fs::create_dir_all(parent).unwrap();
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{name}-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Self(path),
                // An earlier process with the same id was killed before it removed the folder.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in the folder, which need not exist.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
