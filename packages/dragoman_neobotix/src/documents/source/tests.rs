use proptest::prelude::*;

use super::*;
use crate::documents::properties::Source;
use crate::documents::{Map, Roadmap};

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- For the lab. -->
<!DOCTYPE program SYSTEM "program.dtd">
<program version="1.0">
  <!--
    to the letter
  -->
  <task name="round trip" id="1" priority="1">
    <label name="again"/>
    <motion><settarget><coord x="1500" y="-250.5" angle="90"/></settarget></motion>
    <!-- either -->
    <wait timeout="5000" timeoutlabel="again"><target/><userevent id="go"/></wait>
    <wait><delay amount="100"/><!--inside--></wait>
    <log type="info" message="a &quot;b&quot; &#10; c"/>
    <new ns:x="">text <b/></new>
  </task>
</program>
<!-- end -->
"#;

const TEXT: &str = r##"# For the lab.
!DOCTYPE program SYSTEM "program.dtd"
program version=1.0
  #:
  #|    to the letter
  #|  
  task "round trip" id=1 priority=1
    label again
    motion > settarget > coord x=1500 y=-250.5 angle=90
    # either
    wait timeout=5000 timeoutlabel=again
      target
      userevent go
    wait
      delay 100
      #:inside
    log type=info message="a \"b\" \n c"
    new ns:x="" | "text" > b
# end
"##;

fn source(text: &str) -> ProgramSource {
    ProgramSource::parse(text.as_bytes()).unwrap()
}

#[test]
fn both_forms_are_one_document() {
    let (xml, text) = (source(XML), source(TEXT));
    assert_eq!(xml, text);
    assert_eq!(xml.to_text(), TEXT);
    let again = text.to_xml().unwrap();
    assert_eq!(source(&again), xml, "{again}");
    assert!(
        again.contains("<!-- end -->\n") && again.contains("<!DOCTYPE program SYSTEM \"program.dtd\">\n")
    );
    // The platform reads it without the comments.
    let (program, errors) = text.program();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].to_string(), "line 18, column 5: <new> is not known");
    assert_eq!(Program::parse(again.as_bytes()).unwrap(), program);
    let lines = text.step_lines();
    assert_eq!(lines[0].0, "round trip");
    assert_eq!(lines[0].1[2], "wait timeout=5000 timeoutlabel=again > target, userevent go");
}

#[test]
fn the_text_form_is_lenient_about_layout() {
    let loose =
        "program  version=\"1.0\"\r\n\r\n    task name=t\n        label  \"a\"\n        goto label=a>x\n";
    assert_eq!(source(loose).to_text(), "program version=1.0\n  task t\n    label a\n    goto a > x\n");
    assert_eq!(source("#\nprogram\n").to_text(), "#: \nprogram\n");
}

#[test]
fn all_errors_are_reported_with_their_places() {
    let errors = |text: &str| -> Vec<String> {
        match ProgramSource::parse(text.as_bytes()) {
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
            Ok(source) => source.program().1.iter().map(ToString::to_string).collect(),
        }
    };
    for (text, expected) in [
        ("", "line 1, column 1: there is no element"),
        ("map\n", "line 1, column 1: the document is a <map>; a <program> is needed"),
        ("program\nprogram\n", "line 2, column 1: an element after the end of the document"),
        (" program", "line 1, column 2: 1 blanks before the line; 0 are expected"),
        ("program\n   task a\n  task b", "line 3, column 3: 2 blanks before the line; 3 are expected"),
        ("program\n\ttask a", "line 2, column 1: a tab before the line; use blanks"),
        ("program\n  task \"a", "line 2, column 8: the text has no closing \""),
        ("program\n  task a\n    label a # b", "line 3, column 13: a comment needs a line of its own"),
        ("program\n  task a b", "line 2, column 10: which attribute is \"b\"? Write NAME=\"b\""),
        ("program x", "line 1, column 9: which attribute is \"x\"? Write NAME=\"x\""),
        ("program\n  task a name=b", "line 2, column 10: <task> has 'name' twice"),
        ("program version=", "line 1, column 9: 'version' has no value"),
        ("program >", "line 1, column 10: the name of an element is expected"),
        ("program = x", "line 1, column 9: the name of an attribute is expected before ="),
        ("program \"\\q\"", "line 1, column 9: after \\ in a text: one of"),
        ("program\n#|x", "line 2, column 1: #| continues a comment"),
        ("# a -- b\nprogram", "line 1, column 1: a comment of XML cannot contain --"),
        ("#:a\n#|b-\n#|c--d\n#|e\nprogram", "line 3, column 1: a comment of XML cannot contain --"),
        ("#:a\n#|b-\nprogram", "line 2, column 1: a comment of XML cannot contain --"),
        ("#:a-\nprogram", "line 1, column 1: a comment of XML cannot contain --"),
        ("program\n!DOCTYPE program", "line 2, column 1: a document type that is not at the beginning"),
        ("!DOCTYPE program SYSTEM \"a.dtd\nprogram", "line 1, column 1: an invalid document type"),
        ("!DOCTYPE program SYSTEM it's\nprogram", "line 1, column 1: an invalid document type"),
        ("!DOCTYPE program\n!DOCTYPE program\nprogram", "line 2, column 1: a document type that is not"),
        (
            "!DOCTYPE program [<!ENTITY a 'b'>]\nprogram",
            "line 1, column 1: a document type with declarations",
        ),
        ("program\n  task \u{1}", "line 2, column 8: '\\u{1}' is not permitted in XML"),
        ("<?pi x?><program/>", "line 1, column 1: a processing instruction cannot be kept"),
        ("<program><task name='a'>", "line 1, column 25: <task> has no end"),
    ] {
        let found = errors(text);
        assert!(found.iter().any(|error| error.starts_with(expected)), "{text:?}: {found:?}");
    }
    let many = "program\n  task a\n    turnhead 900\n    wait\n    delay\n    goto nowhere\n    turnhead x\n  task\n  task b\n  task b\n";
    assert_eq!(
        errors(many),
        [
            "line 3, column 5: an angle in degrees is 900, which is not between -360 and 360",
            "line 4, column 5: the wait has neither an event nor a time limit",
            "line 5, column 5: <delay> is not known",
            "line 7, column 14: angle=\"x\" is not a number",
            "line 8, column 3: <task> has no attribute 'name'",
            "line 10, column 3: task 'b' occurs twice",
        ]
    );
    assert_eq!(errors("program x\n  task a b\n    label x\n").len(), 2);
}

/// A program with comments anywhere.
fn commented(source: &mut Source) -> ProgramSource {
    fn comment(source: &mut Source) -> Element {
        let pieces = ["", " a ", "a", "\n", "  ", "#", ":", "|", "ü", "\"", "- x", "\\n", "\t"];
        let text: String = (0..source.below(5)).map(|_| *source.one_of(&pieces)).collect();
        Element { name: COMMENT.to_owned(), text, ..Element::default() }
    }
    fn scatter(element: &mut Element, source: &mut Source) {
        element.children.iter_mut().for_each(|child| scatter(child, source));
        for _ in 0..source.below(3) {
            let at = source.below(element.children.len() + 1);
            element.children.insert(at, comment(source));
        }
    }
    let mut root = Program::sample(source).to_element().unwrap();
    scatter(&mut root, source);
    let mut items: Vec<Element> = (0..source.below(3)).map(|_| comment(source)).collect();
    items.push(root);
    items.extend((0..source.below(3)).map(|_| comment(source)));
    ProgramSource { items }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn programs_survive_both_ways(seed: [u8; 32]) {
        let written = commented(&mut Source::new(seed));
        let xml = written.to_xml().unwrap();
        let read = source(&xml);
        prop_assert_eq!(&read, &written, "{}", xml);
        let text = read.to_text();
        let back = source(&text);
        prop_assert_eq!(&back, &read, "{}", text);
        prop_assert_eq!(&back.to_xml().unwrap(), &xml);
        prop_assert_eq!(back.to_text(), text);
        prop_assert_eq!(&back.program().0, &Program::parse(xml.as_bytes()).unwrap());
    }

    #[test]
    fn any_text_is_read_or_refused(kind in
        "(!DOCTYPE program( (SYSTEM|PUBLIC))?( {1,2}('a'|\"b>\"|\"c|it's|\"d'<\"|e)){0,3}\n)?",
    lines in proptest::collection::vec(
        "( {0,4})(program|task|label|#|#:|#\\||!DOCTYPE|wait|\"|x)?( (a|\"b\"|a=|=|>|b=\"c \\\\n\"|\\| \"t\"|x\u{3000}y)){0,4}", 0..8,
    )) {
        let text = format!("{kind}program\n{}", lines.join("\n"));
        let count = u32::try_from(text.split('\n').count()).unwrap();
        match ProgramSource::parse(text.as_bytes()) {
            Ok(read) => {
                let canonical = read.to_text();
                prop_assert_eq!(&source(&canonical), &read, "{}", canonical);
                prop_assert_eq!(source(&canonical).to_text(), canonical);
                prop_assert_eq!(source(&read.to_xml().unwrap()), read);
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert!((1..=count).contains(&error.position.line), "{}", error);
                }
            }
        }
    }
}

#[test]
fn comments_may_have_hyphens_and_signs() {
    for xml in
        ["<!--a-\n-b\n- --><program/>", "<!---\n--><program/>", "<!--->--><program/>", "<!-->--><program/>"]
    {
        let read = ProgramSource::parse(xml.as_bytes()).expect(xml);
        assert_eq!(source(&read.to_text()), read, "{xml}: {}", read.to_text());
        assert_eq!(source(&read.to_xml().unwrap()), read, "{xml}");
    }
}

/// Tests of the Python client read the same file.
#[test]
fn texts_are_those_in_the_file() {
    // A section ends with the end of a line; a blank line is before the next case.
    let file = include_str!("texts.txt");
    let cases: Vec<_> = file.split("\n== ").skip(1).collect();
    assert_eq!(cases.len(), 48);
    for case in cases {
        let (name, rest) = case.split_once("\n-- in\n").unwrap();
        let (input, expected) = rest.split_once("\n-- ").unwrap();
        let converted = match ProgramSource::parse(format!("{input}\n").as_bytes()) {
            Ok(source) => format!("text\n{}-- xml\n{}", source.to_text(), source.to_xml().unwrap()),
            Err(errors) => {
                let line = |DocumentError { position, problem }: &DocumentError| {
                    format!("{}:{}: {problem}\n", position.line, position.column)
                };
                format!("errors\n{}", errors.iter().map(line).collect::<String>())
            }
        };
        assert_eq!(converted, expected, "{name}");
    }
}

/// Errors of a document, and the parts without effect.
fn faults<T: Document>(text: &str) -> Vec<DocumentError> {
    match T::parse(text.as_bytes()) {
        Ok(document) => [document.check(), document.unknown()].concat(),
        Err(error) => vec![error],
    }
}

/// Tests of the Python client read the same file.
#[test]
fn invalid_programs_have_the_errors_in_the_file() {
    let cases: Vec<_> = include_str!("../faults.txt").trim_end().split("\n\n== ").skip(1).collect();
    assert_eq!(cases.len(), 24);
    for case in cases {
        let (name, rest) = case.split_once("\n-- in\n").unwrap();
        let (input, expected) = rest.split_once("\n-- faults").unwrap();
        let errors = match ProgramSource::parse(format!("{input}\n").as_bytes()) {
            _ if input.starts_with("<map") => faults::<Map>(input),
            _ if input.starts_with("<roadmap") => faults::<Roadmap>(input),
            Ok(source) => source.program().1,
            Err(errors) => errors,
        };
        let mut found: Vec<_> =
            errors.iter().map(|error| (error.position.line, error.problem.to_string())).collect();
        found.sort();
        let found: Vec<_> = found.iter().map(|(line, text)| format!("{line}: {text}")).collect();
        assert_eq!(found.join("\n"), expected.trim(), "{name}");
    }
}

#[test]
fn errors_are_short_and_say_what_is_wrong_at_their_end() {
    let long = "x".repeat(1_000_000);
    let many = "<task name='a'/>".repeat(257);
    for (program, end) in [
        (format!("<task name='a'><{long}/></task>"), "> is not known"),
        (format!("<task name='a'><turnhead angle='{long}'/></task>"), "\" is not a number"),
        (format!("<task name='a'><goto label='{long}'/></task>"), "(999920 more characters)'"),
        (format!("<task name='a'><goto label='b' condition='{long}'/></task>"), "(999920 more characters)'"),
        (
            format!("<task name='a'><parameter><set key='{long}' value=''/></parameter></task>"),
            "characters)'",
        ),
        (
            format!("<task name='a'><parameter><set key='IpoRotvel' value='{long}'/></parameter></task>"),
            "': DOUBLE is needed",
        ),
        (format!("<task name='{long}'/><task name='{long}'/>"), "' occurs twice"),
        (format!("<task name='a'><motion><{long}"), ""),
        (format!("<task name='a'>{long}</task>"), "<task> has text in it"),
        (many, "the program has 257 tasks; the maximum is 256"),
    ] {
        let errors = match ProgramSource::parse(format!("<program>{program}</program>").as_bytes()) {
            Ok(source) => source.program().1,
            Err(errors) => errors,
        };
        let words: Vec<String> = errors.iter().map(|error| error.problem.to_string()).collect();
        assert!(words.iter().all(|one| one.len() < 300), "{end}: {}", words[0].len());
        assert!(words.iter().any(|one| one.ends_with(end)), "{end}: {words:?}");
    }
}
