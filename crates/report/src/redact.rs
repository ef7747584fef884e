//! A run without the names that lead to its owner: serial numbers and host names.
//!
//! Every text of the run is looked through, not a list of fields: what a later version adds is
//! covered too. Numbers, histograms and the words of the format stay as they are.

use drivelab_core::facts::DeviceFacts;
use drivelab_core::plan::Plan;
use drivelab_core::record::Begin;
use drivelab_core::run::Run;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What stands in the place of a serial number.
const SERIAL: &str = "[serial]";
/// What stands in the place of a host name or address.
const HOST: &str = "[host]";
/// What stands in the place of a token, which holds a serial number.
const TOKEN: &str = "[token]";
/// What stands in the place of a link that is named after a serial number.
const LINK: &str = "[id]";

/// A name and what stands in its place.
type Name = (String, String);

/// The run without serial numbers, host names, tokens and names of devices made of them. An error
/// says in a sentence what cannot be replaced; then nothing should be shown.
pub fn redacted(run: &Run) -> Result<Run, String> {
    let names = names(&run.begin);
    let mut clean = run.clone();
    clean.begin.arguments = arguments(&run.begin.arguments);
    clean.begin = replaced(&clean.begin, &names)?;
    clean.plans =
        run.plans.iter().map(|plan| replaced::<Plan>(plan, &names)).collect::<Result<_, _>>()?;
    for step in &mut clean.steps {
        step.begin = replaced(&step.begin, &names)?;
        step.plan = replaced(&step.plan, &names)?;
        step.end = replaced(&step.end, &names)?;
    }
    clean.warnings = replaced(&clean.warnings, &names)?;
    clean.findings = replaced(&clean.findings, &names)?;
    clean.end = replaced(&clean.end, &names)?;
    Ok(clean)
}

/// What must not be seen, the longest first.
fn names(begin: &Begin) -> Vec<Name> {
    let (facts, arguments) = (&begin.facts, &begin.arguments);
    let mut names: Vec<Name> = Vec::new();
    for serial in facts.target.devices.iter().flat_map(serials) {
        for form in serial_forms(serial) {
            names.push((form, SERIAL.to_owned()));
        }
    }
    for token in tokens(arguments) {
        names.push((token.clone(), TOKEN.to_owned()));
        // Its parts may stand alone in a warning.
        names
            .extend(token.split_once(':').map(|(serial, _)| (serial.to_owned(), TOKEN.to_owned())));
    }
    let first = facts.host.hostname.as_deref();
    let others = begin.machines().into_iter().filter(|host| Some(*host) != first);
    for (index, host) in first.into_iter().chain(others).enumerate() {
        // Machines that shared the work stay apart.
        let place = if index == 0 { HOST.to_owned() } else { format!("[host {}]", index + 1) };
        names.extend(host.split_once('.').map(|(short, _)| (short.to_owned(), place.clone())));
        names.push((host.to_owned(), place));
    }
    if let Some(found) = facts.target.filesystem.as_ref() {
        let servers = servers(&found.source, &found.options, found.network);
        names.extend(servers.into_iter().map(|server| (server, HOST.to_owned())));
    }
    names.retain(|(name, _)| !name.trim().is_empty() && name != "localhost");
    names.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.cmp(b)));
    names.dedup_by(|a, b| a.0 == b.0);
    names
}

/// Names and addresses of the servers that a file system comes from: of `HOST:/path`,
/// `//HOST/share`, `USER@HOST:path`, `[ADDRESS]:/path`, several with commas, and of mount options.
fn servers(source: &str, options: &str, is_network: bool) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    let is_remote = |text: &str| {
        let path = text.find('/').unwrap_or(text.len());
        text.starts_with("//") || text.find(':').is_some_and(|colon| colon < path)
    };
    if is_network || is_remote(source) {
        for one in source.trim_start_matches('/').split(',') {
            let host = one.rsplit_once('@').map_or(one, |(_, host)| host);
            let host = match host.strip_prefix('[') {
                Some(address) => address.split(']').next(),
                None => host.split([':', '/']).next(),
            };
            servers.extend(host.map(str::to_owned));
        }
    }
    for (key, value) in options.split(',').filter_map(|option| option.split_once('=')) {
        let key = key.trim();
        if key.ends_with("addr") || key.ends_with("host") || key == "ip" || key == "unc" {
            let host = value.trim_start_matches(['\\', '/']).split(['\\', '/']).next();
            servers.extend(host.map(str::to_owned));
        }
    }
    // The first label of a name may stand alone; the first number of an address says nothing.
    let is_name =
        |server: &&String| server.chars().any(|c| c.is_ascii_alphabetic()) && !server.contains(':');
    let named = servers.iter().filter(is_name);
    let short: Vec<String> =
        named.filter_map(|server| Some(server.split_once('.')?.0.to_owned())).collect();
    servers.extend(short);
    servers.retain(|server| !server.is_empty());
    servers
}

/// The serial number that the kernel tells, and the drive's own behind a bridge; names that no
/// other drive or namespace has.
fn serials(device: &DeviceFacts) -> impl Iterator<Item = &str> {
    let own = device.wear.as_ref().and_then(|wear| wear.names.as_ref()?.serial.as_ref());
    let nvme = device.nvme.iter().flat_map(|nvme| [&nvme.eui64, &nvme.nguid, &nvme.uuid]);
    let names = [&device.serial, &device.world_wide_name].into_iter().chain(nvme);
    names.flatten().chain(own).map(String::as_str)
}

/// A serial number as the drive tells it, as a token has it, and as a device link has it.
fn serial_forms(serial: &str) -> Vec<String> {
    let serial = serial.trim();
    let in_token = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let words: Vec<&str> = serial.split_whitespace().collect();
    let mut forms =
        vec![serial.to_owned(), serial.chars().map(in_token).collect(), words.join("_")];
    forms.sort();
    forms.dedup();
    forms
}

/// The words that follow `--erase`.
fn tokens(arguments: &[String]) -> Vec<String> {
    let mut tokens = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        match word.strip_prefix("--erase") {
            Some("") => tokens.extend(arguments.get(index + 1).cloned()),
            Some(rest) => tokens.extend(rest.strip_prefix('=').map(str::to_owned)),
            None => {}
        }
    }
    tokens
}

/// The command line without its tokens, whatever they name.
fn arguments(words: &[String]) -> Vec<String> {
    let mut clean: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let is_token = clean.last().is_some_and(|before| before == "--erase");
        clean.push(match (is_token, word.starts_with("--erase=")) {
            (true, _) => TOKEN.to_owned(),
            (false, true) => format!("--erase={TOKEN}"),
            (false, false) => word.clone(),
        });
    }
    clean
}

fn replaced<T: Serialize + DeserializeOwned>(value: &T, names: &[Name]) -> Result<T, String> {
    let failed = |error: serde_json::Error| {
        format!("a name to hide is also a word of the run file ({error}): it cannot be hidden")
    };
    let mut json = serde_json::to_value(value).map_err(failed)?;
    walk(&mut json, names);
    serde_json::from_value(json).map_err(failed)
}

fn walk(value: &mut Value, names: &[Name]) {
    match value {
        Value::String(text) => *text = hidden(text, names),
        Value::Array(list) => list.iter_mut().for_each(|value| walk(value, names)),
        Value::Object(map) => map.values_mut().for_each(|value| walk(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hidden(text: &str, names: &[Name]) -> String {
    let mut text = without_links(text);
    for (name, place) in names {
        text = without(&text, name, place);
    }
    text
}

/// Links under `/dev/disk/by-id` and `by-uuid` name one device in the world.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let marks = ["/by-id/", "/by-uuid/", "/by-partuuid/"];
        let found = marks.iter().filter_map(|mark| Some((rest.find(mark)?, mark.len()))).min();
        let Some((at, length)) = found else { break };
        let (before, after) = rest.split_at(at + length);
        out.push_str(before);
        out.push_str(LINK);
        let end = after.find(|c: char| c.is_whitespace() || "/'\",;)".contains(c));
        rest = &after[end.unwrap_or(after.len())..];
    }
    out + rest
}

/// Names as short as this are replaced in their own case alone: a host may be called `vm`.
const SHORT: usize = 3;

/// `text` with `name` replaced wherever it stands as a word of its own, in whatever case.
fn without(text: &str, name: &str, place: &str) -> String {
    let (lower, wanted) = match name.len() <= SHORT && name == name.to_ascii_lowercase() {
        true => (text.to_owned(), name.to_owned()),
        false => (text.to_ascii_lowercase(), name.to_ascii_lowercase()),
    };
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = lower[at..].find(&wanted).map(|found| at + found) {
        let end = found + wanted.len();
        let inside =
            is_part(lower[..found].chars().next_back()) || is_part(lower[end..].chars().next());
        out.push_str(&text[at..found]);
        out.push_str(if inside { &text[found..end] } else { place });
        at = end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use drivelab_core::facts::{NvmeFacts, OwnNames, WearFacts};

    #[test]
    fn only_whole_words_are_replaced() {
        assert_eq!(without("S1 on s1-part2, S12", "S1", SERIAL), "[serial] on [serial]-part2, S12");
        assert_eq!(without("nothing", "S1", SERIAL), "nothing");
        assert_eq!(without("é S1 é", "S1", SERIAL), "é [serial] é");
        assert_eq!(without("a VM host on vm", "vm", HOST), "a VM host on [host]");
    }

    #[test]
    fn links_and_tokens_are_hidden_whatever_they_name() {
        let link = "open /dev/disk/by-id/nvme-X_S7-part1: no; /dev/disk/by-uuid/12-ab";
        let clean = without_links(link);
        assert_eq!(clean, "open /dev/disk/by-id/[id] no; /dev/disk/by-uuid/[id]");
        let line = ["run", "/dev/x", "--erase", "S7:ext4", "--erase=S8"].map(str::to_owned);
        assert_eq!(arguments(&line), ["run", "/dev/x", "--erase", TOKEN, "--erase=[token]"]);
        assert_eq!(tokens(&line), ["S7:ext4", "S8"]);
    }

    #[test]
    fn servers_are_known_in_every_form_of_a_source() {
        for (source, options, expected) in [
            (
                "nas.example.org:/export",
                "rw,addr=10.0.0.7",
                &["nas.example.org", "10.0.0.7", "nas"][..],
            ),
            ("nas:/export", "rw,mounthost=nas2,clientaddr=10.0.0.1", &["nas", "nas2", "10.0.0.1"]),
            ("[fe80::1%eth0]:/export", "rw", &["fe80::1%eth0"]),
            ("//files/share", "unc=\\\\files\\share,ip=1.2.3.4", &["files", "files", "1.2.3.4"]),
            ("anna@box.lan:/home", "rw", &["box.lan", "box"]),
            ("10.0.0.1:6789,10.0.0.2:6789:/", "rw", &["10.0.0.1", "10.0.0.2"]),
            ("/dev/sda1", "rw,data=ordered", &[]),
            ("/dev/mapper/a:b", "rw", &[]),
            ("tmpfs", "rw,size=1g", &[]),
        ] {
            assert_eq!(servers(source, options, false), expected, "{source}");
        }
        assert_eq!(servers("nas", "", true), ["nas"]);
    }

    #[test]
    fn a_drive_behind_a_bridge_has_two_serial_numbers() {
        let own = OwnNames { serial: Some("OWN-1".into()), ..OwnNames::default() };
        let wear = Some(WearFacts { names: Some(own), ..WearFacts::default() });
        let serial = Some("BRIDGE-1".to_owned());
        let device = DeviceFacts { serial, wear, ..DeviceFacts::default() };
        assert_eq!(serials(&device).collect::<Vec<_>>(), ["BRIDGE-1", "OWN-1"]);
        let nvme = NvmeFacts { nguid: Some("abc".into()), ..NvmeFacts::default() };
        let world_wide_name = Some("eui.abc".to_owned());
        let namespace = DeviceFacts { world_wide_name, nvme: Some(nvme), ..device.clone() };
        let expected = ["BRIDGE-1", "eui.abc", "abc", "OWN-1"];
        assert_eq!(serials(&namespace).collect::<Vec<_>>(), expected);
        let mut begin = Begin::default();
        begin.facts.target.devices = vec![device];
        let clean = replaced(&begin.facts, &names(&begin)).unwrap();
        let text = serde_json::to_string(&clean).unwrap();
        assert!(!text.contains("OWN-1") && !text.contains("BRIDGE-1"), "{text}");
    }

    #[test]
    fn a_serial_number_has_several_forms() {
        assert_eq!(serial_forms(" WD WC/1 "), ["WD WC/1", "WD_WC/1", "WD_WC_1"]);
    }
}
