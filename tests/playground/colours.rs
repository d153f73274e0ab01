//! Text contrast in the light and the dark colour scheme.

use support::browser::Browser;

use crate::playground::{page::Page, program::StoreKind};

/// Visible texts with a contrast below 4.5:1, the WCAG minimum for their size, with their contrast.
const LOW_CONTRAST: &str = r"(() => {
    const channels = (colour) => {
        const [red, green, blue, opacity = 1] = colour.match(/[\d.]+/g).map(Number);
        return { rgb: [red, green, blue], opacity };
    };
    const over = (top, opacity, below) => top.map((channel, nth) => channel * opacity + below[nth] * (1 - opacity));
    const up = (element) => (element ? [...up(element.parentElement), element] : []);
    const luminance = (rgb) => {
        const [red, green, blue] = rgb.map((channel) => channel / 255)
            .map((channel) => (channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const faint = [];
    for (const element of document.querySelectorAll('body *')) {
        const text = [...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()).join('');
        const own = text || (element.matches('input, select') && element.value);
        if (!own || !element.checkVisibility() || element.matches('[aria-disabled=true], [aria-disabled=true] *') || element.matches('.unseen, .skip, option, noscript')) continue;
        let below = [255, 255, 255];
        let opacity = 1;
        for (const ancestor of up(element)) {
            const style = getComputedStyle(ancestor);
            const background = channels(style.backgroundColor);
            below = over(background.rgb, background.opacity, below);
            opacity *= Number(style.opacity);
        }
        const style = getComputedStyle(element);
        const ink = channels(element.matches('svg text') ? style.fill : style.color);
        const [light, dark] = [luminance(over(ink.rgb, ink.opacity * opacity, below)), luminance(below)].sort((one, other) => other - one);
        const contrast = (light + 0.05) / (dark + 0.05);
        window.looked = (window.looked ?? 0) + 1;
        if (contrast < 4.5) faint.push(`${element.tagName} ${own}: ${contrast.toFixed(2)}`);
    }
    return faint;
})()";

#[tokio::test]
async fn every_text_has_the_wcag_contrast() {
    let browser = Browser::start().await;
    let page = Page::new(&browser, StoreKind::Memory);
    for colours in ["light", "dark"] {
        browser.prefer(&[("prefers-color-scheme", colours)]).await;
        page.open("?paused=yes&at=10400&play=0-edge_10400-overload").await;
        browser
            .value("document.querySelectorAll('details').forEach((details) => details.open = true)")
            .await;
        browser.click("#stream").await;
        browser
            .until("document.getElementById('stream').ariaPressed === 'true'")
            .await;
        assert_eq!(page.read::<Vec<String>>(LOW_CONTRAST).await, [""; 0], "{colours}");
        let looked = browser.value("window.looked").await.as_u64().unwrap();
        assert!(looked > 150, "{looked} texts");
        let background = browser.value("getComputedStyle(document.body).backgroundColor").await;
        let expected = if colours == "light" {
            "rgb(246, 245, 241)"
        } else {
            "rgb(20, 23, 26)"
        };
        assert_eq!(background, expected);

        browser.open(&format!("{}/?limit=0", page.playground.url())).await;
        browser
            .until("document.getElementById('wrong').checkVisibility()")
            .await;
        assert_eq!(page.read::<Vec<String>>(LOW_CONTRAST).await, [""; 0], "{colours}");
    }
    page.close().await;
}

#[tokio::test]
async fn nodes_have_the_wcag_contrast() {
    let browser = Browser::start().await;
    for kind in StoreKind::BOTH {
        let page = Page::new(&browser, kind);
        for colours in ["light", "dark"] {
            browser.prefer(&[("prefers-color-scheme", colours)]).await;
            let ready = match kind {
                StoreKind::Memory => "document.getElementById('no-redis').checkVisibility()",
                StoreKind::Redis => "document.getElementById('stream-a').ariaPressed === 'true'",
            };
            browser
                .open(&format!("{}/nodes.html?play=0-stream.a", page.playground.url()))
                .await;
            browser.until(ready).await;
            browser
                .value("document.querySelectorAll('details').forEach((details) => details.open = true)")
                .await;
            assert_eq!(page.read::<Vec<String>>(LOW_CONTRAST).await, [""; 0], "{colours}");
            let looked = browser.value("window.looked").await.as_u64().unwrap();
            assert!(looked > 60, "{looked} texts");
        }
        page.close().await;
    }
}
