//! Versions of some rules, and what clients are told of each.

/// What a limit is called, and how many it admits a day.
type Named = (&'static str, u32);

/// The tiers, and how many a day the user is allowed on the plan that half of the clients are on.
pub struct Version(&'static [Named], Option<u32>);

pub const VERSIONS: [Version; 6] = [
    Version(&[("all", 100_000), ("user", 150)], None),
    Version(&[("user", 300), ("all", 90_000)], Some(600)),
    Version(&[("user", 200), ("heavy", 6_000), ("all", 80_000)], None),
    Version(&[("other", 500), ("user", 700)], None),
    Version(&[("all", 1_500), ("user", 900)], Some(800)),
    Version(&[("heavy", 100_000)], None),
];

impl Version {
    pub fn text(&self) -> String {
        let trust = "[trust]\nproxies = ['127.0.0.1/32']\nheaders = ['x-plan']\n".to_owned();
        self.0.iter().fold(trust, |text, (name, amount)| {
            let terms = match *name {
                "heavy" => "key = 'global'\ncost = 3\n",
                "all" => "key = 'global'\n",
                _ => "key = 'header:x-user-id'\n",
            };
            let plans = match self.1 {
                Some(pro) if *name == "user" => format!("plan = 'header:x-plan'\nplans.pro = {{ limit = {pro} }}\n"),
                _ => String::new(),
            };
            let limit = format!("name = '{name}'\nlimit = {amount}\nalgorithm = 'fixed_window'\nwindow = '1d'\n");
            text + "[[limit]]\n" + &limit + terms + &plans
        })
    }

    /// What the clients are told of it who are on the plan, or on none.
    pub fn policy(&self, is_pro: bool) -> String {
        let amount = |(name, amount): &Named| match self.1 {
            Some(pro) if is_pro && *name == "user" => pro,
            _ => *amount,
        };
        let tiers = self
            .0
            .iter()
            .map(|tier| format!("\"{}\";q={};w=86400", tier.0, amount(tier)));
        tiers.collect::<Vec<_>>().join(", ")
    }
}

/// The names of the tiers that a header speaks of.
pub fn names(header: &str) -> Vec<&str> {
    header.split(", ").filter_map(|tier| tier.split('"').nth(1)).collect()
}
