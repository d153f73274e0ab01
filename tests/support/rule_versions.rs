//! Versions of a rules file, and the `RateLimit-Policy` header of each.

/// The name of a limit and its requests per day.
type Named = (&'static str, u32);

/// The tiers, and the limit of tier `user` on the plan `pro`, which half of the clients are on.
pub struct RulesVersion(&'static [Named], Option<u32>);

pub const VERSIONS: [RulesVersion; 6] = [
    RulesVersion(&[("all", 100_000), ("user", 150)], None),
    RulesVersion(&[("user", 300), ("all", 90_000)], Some(600)),
    RulesVersion(&[("user", 200), ("heavy", 6_000), ("all", 80_000)], None),
    RulesVersion(&[("other", 500), ("user", 700)], None),
    RulesVersion(&[("all", 1_500), ("user", 900)], Some(800)),
    RulesVersion(&[("heavy", 100_000)], None),
];

impl RulesVersion {
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

    /// The `RateLimit-Policy` header for clients on the plan `pro` or on none.
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

/// The names of the tiers in a header.
pub fn tier_names(header: &str) -> Vec<&str> {
    header.split(", ").filter_map(|tier| tier.split('"').nth(1)).collect()
}
