//! Screen sizes, overflow, and screenshots.

use std::path::PathBuf;

use serde_json::json;

use super::Browser;
use crate::project::target;

#[derive(Debug, Clone, Copy)]
pub struct Screen {
    pub name: &'static str,
    pub width: u32,
    pub height: u32,
    /// Uses the mobile layout, which shrinks a page without a viewport meta tag.
    pub is_phone: bool,
}

impl Screen {
    pub const PHONE: Self = Self::new("phone", 360, 740, true);
    pub const TABLET: Self = Self::new("tablet", 768, 1024, true);
    pub const DESKTOP: Self = Self::new("desktop", 1280, 800, false);

    const fn new(name: &'static str, width: u32, height: u32, is_phone: bool) -> Self {
        Self {
            name,
            width,
            height,
            is_phone,
        }
    }
}

impl Browser {
    pub async fn show_on(&self, screen: Screen) {
        let (width, height) = (screen.width, screen.height);
        let metrics = json!({
            "width": width, "height": height, "screenWidth": width, "screenHeight": height,
            "deviceScaleFactor": 1, "mobile": screen.is_phone,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Emulates media features: `("prefers-color-scheme", "dark")`. Features that are not listed are reset to the default.
    pub async fn prefer(&self, features: &[(&str, &str)]) {
        let features = features
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}));
        let media = json!({ "features": features.collect::<Vec<_>>() });
        self.devtools("Emulation.setEmulatedMedia", media).await;
    }

    /// The horizontal overflow of the page, in pixels.
    pub async fn overhang(&self) -> u64 {
        // A phone shrinks the page: `innerWidth` then exceeds the screen, and there is nothing to scroll.
        const OVERHANG: &str = "Math.max(innerWidth - screen.width,
            document.documentElement.scrollWidth - document.documentElement.clientWidth)";
        self.value(OVERHANG).await.as_u64().unwrap()
    }

    /// A screenshot of the whole page, stored in target/tmp/screenshots. The browser keeps this screen size afterwards.
    pub async fn picture(&self, name: &str, screen: Screen) -> PathBuf {
        self.show_on(screen).await;
        let height = self.value("document.documentElement.scrollHeight").await;
        let height = u32::try_from(height.as_u64().unwrap()).unwrap();
        self.show_on(Screen { height, ..screen }).await;
        let picture = self.client.screenshot().await.unwrap();
        self.show_on(screen).await;
        let folder = target().join("tmp/screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{name}-{}.png", screen.name));
        // Another test run may write the same file.
        let new = folder.join(format!("{name}-{}-{}.new", screen.name, std::process::id()));
        std::fs::write(&new, picture).unwrap();
        std::fs::rename(&new, &path).unwrap();
        path
    }
}
