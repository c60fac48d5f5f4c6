//! People, services, products and dates that all data refers to.

/// Login, name, team, time zone.
pub const PEOPLE: &[(&str, &str, &str, &str)] = &[
    ("ada", "Ada Lindqvist", "payments", "Europe/Stockholm"),
    ("bjarne", "Bjarne Holm", "payments", "Europe/Copenhagen"),
    ("chidi", "Chidi Okafor", "payments", "Africa/Lagos"),
    ("dana", "Dana Levi", "payments", "Asia/Jerusalem"),
    ("emeka", "Emeka Obi", "search", "Africa/Lagos"),
    ("farah", "Farah Aziz", "search", "Asia/Karachi"),
    ("gita", "Gita Rao", "search", "Asia/Kolkata"),
    ("hiro", "Hiro Tanaka", "search", "Asia/Tokyo"),
    ("ines", "Ines Duarte", "platform", "Europe/Lisbon"),
    ("jonas", "Jonas Weber", "platform", "Europe/Berlin"),
    ("kaia", "Kaia Nilsen", "platform", "Europe/Oslo"),
    ("liam", "Liam Byrne", "platform", "Europe/Dublin"),
    ("mei", "Mei Chen", "mobile", "Asia/Shanghai"),
    ("nadia", "Nadia Haddad", "mobile", "Africa/Casablanca"),
    ("oscar", "Oscar Reyes", "mobile", "America/Mexico_City"),
    ("priya", "Priya Nair", "mobile", "Asia/Kolkata"),
    ("quinn", "Quinn Tran", "data", "America/Vancouver"),
    ("rosa", "Rosa Silva", "data", "America/Sao_Paulo"),
    ("sven", "Sven Berg", "data", "Europe/Stockholm"),
    ("tara", "Tara Singh", "data", "America/New_York"),
];

/// Name, team that owns it.
pub const SERVICES: &[(&str, &str)] = &[
    ("gateway", "platform"),
    ("identity", "platform"),
    ("scheduler", "platform"),
    ("audit", "platform"),
    ("checkout", "payments"),
    ("billing", "payments"),
    ("refunds", "payments"),
    ("fraud", "payments"),
    ("catalog", "search"),
    ("indexer", "search"),
    ("suggest", "search"),
    ("ranking", "search"),
    ("push", "mobile"),
    ("sync", "mobile"),
    ("media", "mobile"),
    ("reports", "data"),
    ("events", "data"),
    ("warehouse", "data"),
    ("exports", "data"),
    ("forecast", "data"),
];

/// Product, category, price in cents.
pub const TEAS: &[(&str, &str, usize)] = &[
    ("sencha", "green", 890),
    ("gyokuro", "green", 2450),
    ("matcha", "green", 1990),
    ("genmaicha", "green", 750),
    ("assam", "black", 690),
    ("darjeeling", "black", 1290),
    ("keemun", "black", 1150),
    ("ceylon", "black", 640),
    ("oolong", "oolong", 1490),
    ("dahongpao", "oolong", 2890),
    ("rooibos", "herbal", 520),
    ("hibiscus", "herbal", 480),
    ("chamomile", "herbal", 450),
    ("peppermint", "herbal", 430),
    ("silverneedle", "white", 2190),
    ("peony", "white", 1650),
];

/// Two-letter codes.
pub const COUNTRIES: &[&str] = &["DE", "SE", "FR", "PT", "JP", "US", "IN", "BR"];

/// Where the customer of this number lives.
pub fn country(customer: usize) -> &'static str {
    COUNTRIES[customer * 5 % 8]
}

/// `2031-04-09T08:05:00Z` from days after 2031-01-01 and a minute of the day.
pub fn moment(day: usize, minute: usize) -> String {
    format!("{}T{:02}:{:02}:00Z", date(day), minute / 60 % 24, minute % 60)
}

/// `2031-04-09` from days after 2031-01-01; for that year and the next, which have no leap day.
pub fn date(day: usize) -> String {
    const MONTHS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (year, mut rest) = (2031 + day / 365, day % 365);
    // 2032 has a leap day, which nothing here reaches.
    assert!(day < 365 + 59, "{day} is too late");
    for (month, days) in MONTHS.iter().enumerate() {
        if rest < *days {
            return format!("{year}-{:02}-{:02}", month + 1, rest + 1);
        }
        rest -= days;
    }
    unreachable!("a year has 365 days")
}
