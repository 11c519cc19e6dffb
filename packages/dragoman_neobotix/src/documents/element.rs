//! Typed elements: each element is declared once, and parsing, writing and samples for tests follow from the
//! declaration.
//!
//! [`Node`] is a typed element, made by [`element!`]; [`choice!`] is one of several. [`Value`] is the value of an
//! attribute.

use dragoman_text::nearest;

use super::xml::{Attribute, Element, Position};
use super::{DocumentError, Problem, WriteError};

#[cfg(test)]
use super::properties::Source;

/// Parts of an element that the guide does not define. They are kept, and written after the others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extra {
    /// The element's name, if it was read with the guide's other spelling.
    pub name: Option<String>,
    /// Other attributes.
    pub attributes: Vec<Attribute>,
    /// Other child elements.
    pub elements: Vec<Element>,
}

impl Extra {
    /// Whether it has no parts.
    pub fn is_empty(&self) -> bool {
        self.attributes.is_empty() && self.elements.is_empty()
    }

    /// Adds its parts to the unknown parts. `attributes` and `children` are the known ones.
    pub(super) fn find_unknown(
        &self,
        element: &str,
        attributes: &[&'static str],
        children: &[&'static str],
        found: &mut Vec<DocumentError>,
    ) {
        for Attribute { name, position, .. } in &self.attributes {
            let part = format!("'{}' of <{}>", dragoman_text::excerpt(name), dragoman_text::excerpt(element));
            found.push(kept(part, name, attributes, *position));
        }
        found.extend(self.elements.iter().map(|child| kept_element(child, children)));
    }
}

/// An element that is kept without effect.
pub(super) fn kept_element(element: &Element, known: &[&'static str]) -> DocumentError {
    kept(format!("<{}>", dragoman_text::excerpt(&element.name)), &element.name, known, element.position)
}

fn kept(part: String, name: &str, known: &[&'static str], position: Position) -> DocumentError {
    DocumentError {
        position,
        problem: Problem::Kept { part, hint: similar_known_name(name, known), times: 1 },
    }
}

/// The end of a sentence about an unknown name: a similar known name.
pub(super) fn similar_known_name(name: &str, known: &[&'static str]) -> String {
    let nearest = nearest(name, known.iter().copied());
    nearest.map(|nearest| format!("; did you mean '{nearest}'?")).unwrap_or_default()
}

/// The end of a sentence about a missing part: a similar name in the element.
fn similar_present_name<'a>(missing: &str, there: impl Iterator<Item = &'a str>) -> String {
    let nearest = nearest(missing, there);
    nearest.map(|nearest| format!("; there is '{}'", dragoman_text::excerpt(nearest))).unwrap_or_default()
}

/// A typed element.
pub(super) trait Node: Sized {
    fn accepts(name: &str) -> bool;

    fn from_element(element: Element) -> Result<Self, DocumentError>;

    fn to_element(&self) -> Result<Element, WriteError>;

    /// Adds the names of its element.
    fn names(all: &mut Vec<&'static str>);

    /// Adds the parts that are kept without effect.
    fn find_unknown(&self, found: &mut Vec<DocumentError>);

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self;
}

/// The value of an attribute.
pub(super) trait Value: Sized {
    /// Description for error messages.
    const KIND: &'static str;

    /// `None`: not a valid value.
    fn parse(text: &str) -> Option<Self>;

    /// `None`: not writable.
    fn print(&self) -> Option<String>;

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self;
}

/// A required or optional value.
pub(super) trait AttributeField: Sized {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError>;

    fn put(&self, element: &mut Element, name: &'static str) -> Result<(), WriteError>;

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self;
}

/// A required or optional element, two, or any number.
pub(super) trait ChildField: Sized {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError>;

    fn put(&self, element: &mut Element) -> Result<(), WriteError>;

    /// As of [`Node`].
    fn names(all: &mut Vec<&'static str>);

    /// As of [`Node`].
    fn find_unknown(&self, found: &mut Vec<DocumentError>);

    /// Whether it accepts elements that the guide does not define.
    #[cfg(test)]
    fn takes_all() -> bool;

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self;
}

impl Element {
    fn take(&mut self, name: &str) -> Option<Attribute> {
        let index = self.attributes.iter().position(|attribute| attribute.name == name)?;
        Some(self.attributes.remove(index))
    }

    fn put(&mut self, name: &str, value: String) {
        self.attributes.push(Attribute { name: name.to_owned(), value, position: Position::default() });
    }

    fn take_value<T: Value>(&mut self, name: &'static str) -> Result<Option<T>, DocumentError> {
        let Some(attribute) = self.take(name) else {
            return Ok(None);
        };
        let value = T::parse(&attribute.value);
        let Attribute { value: text, position, .. } = attribute;
        let problem = Problem::Value { attribute: name, value: text, kind: T::KIND };
        value.map(Some).ok_or(DocumentError { position, problem })
    }

    fn put_value<T: Value>(&mut self, name: &'static str, value: &T) -> Result<(), WriteError> {
        let text = value.print().ok_or_else(|| WriteError::NotFinite {
            element: self.name.clone(),
            attribute: name.to_owned(),
        })?;
        self.put(name, text);
        Ok(())
    }

    /// Takes all children of a type, in order.
    fn take_children<T: Node>(&mut self) -> Result<Vec<T>, DocumentError> {
        let (own, others) =
            std::mem::take(&mut self.children).into_iter().partition(|child| T::accepts(&child.name));
        self.children = others;
        let own: Vec<Element> = own;
        own.into_iter().map(T::from_element).collect()
    }

    fn children_error(&self, name: &'static str, expected: &'static str, found: usize) -> DocumentError {
        let there = self.children.iter().map(|child| child.name.as_str());
        let hint = if found == 0 { similar_present_name(name, there) } else { String::new() };
        let problem = Problem::Children { element: self.name.clone(), child: name, expected, found, hint };
        DocumentError { position: self.position, problem }
    }

    /// The remaining parts. No element of the guide has text.
    pub(super) fn into_extra(self, name: &'static str) -> Result<Extra, DocumentError> {
        if !self.text.is_empty() {
            return Err(DocumentError {
                position: self.position,
                problem: Problem::Text { element: self.name },
            });
        }
        let other = (self.name != name).then_some(self.name);
        Ok(Extra { name: other, attributes: self.attributes, elements: self.children })
    }

    /// Begins writing an element.
    pub(super) fn begin(name: &'static str, extra: &Extra) -> Self {
        let name = extra.name.clone().unwrap_or_else(|| name.to_owned());
        Self { name, ..Self::default() }
    }

    /// Finishes writing an element.
    pub(super) fn end(&mut self, extra: &Extra) {
        self.attributes.extend(extra.attributes.iter().cloned());
        self.children.extend(extra.elements.iter().cloned());
    }
}

impl<T: Value> AttributeField for T {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError> {
        element.take_value(name)?.ok_or_else(|| {
            let there = element.attributes.iter().map(|attribute| attribute.name.as_str());
            let hint = similar_present_name(name, there);
            let problem = Problem::MissingAttribute { element: element.name.clone(), attribute: name, hint };
            DocumentError { position: element.position, problem }
        })
    }

    fn put(&self, element: &mut Element, name: &'static str) -> Result<(), WriteError> {
        element.put_value(name, self)
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        Value::sample(source)
    }
}

impl<T: Value> AttributeField for Option<T> {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError> {
        element.take_value(name)
    }

    fn put(&self, element: &mut Element, name: &'static str) -> Result<(), WriteError> {
        self.iter().try_for_each(|value| element.put_value(name, value))
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        source.flag().then(|| Value::sample(source))
    }
}

/// The version of the DTD. The guide writes `Version` for maps and roadmaps and `version` for programs and tasks; both
/// are read, and written as read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Version {
    /// `None`: missing.
    pub number: Option<String>,
    /// Whether it was read with the other capitalization.
    pub is_other_case: bool,
}

impl Version {
    fn name(name: &'static str, is_other_case: bool) -> &'static str {
        match (name, is_other_case) {
            ("Version", true) => "version",
            ("version", true) => "Version",
            (name, _) => name,
        }
    }
}

impl AttributeField for Version {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError> {
        if let Some(own) = element.take(name) {
            return Ok(Self { number: Some(own.value), is_other_case: false });
        }
        let other = element.take(Self::name(name, true));
        Ok(Self { is_other_case: other.is_some(), number: other.map(|attribute| attribute.value) })
    }

    fn put(&self, element: &mut Element, name: &'static str) -> Result<(), WriteError> {
        let name = Self::name(name, self.is_other_case);
        self.number.iter().for_each(|number| element.put(name, number.clone()));
        Ok(())
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        let number = source.flag().then(|| Value::sample(source));
        Self { is_other_case: number.is_some() && source.flag(), number }
    }
}

impl<T: Node> ChildField for T {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError> {
        let mut children = element.take_children()?;
        match (children.pop(), children.len()) {
            (Some(only), 0) => Ok(only),
            (last, before) => {
                Err(element.children_error(name, "exactly one", before + usize::from(last.is_some())))
            }
        }
    }

    fn put(&self, element: &mut Element) -> Result<(), WriteError> {
        element.children.push(self.to_element()?);
        Ok(())
    }

    fn names(all: &mut Vec<&'static str>) {
        <T as Node>::names(all);
    }

    fn find_unknown(&self, found: &mut Vec<DocumentError>) {
        Node::find_unknown(self, found);
    }

    #[cfg(test)]
    fn takes_all() -> bool {
        T::accepts("new")
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        Node::sample(source)
    }
}

impl<T: Node> ChildField for Option<T> {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError> {
        let mut children = element.take_children()?;
        match (children.pop(), children.len()) {
            (last, 0) => Ok(last),
            (_, before) => Err(element.children_error(name, "at most one", before + 1)),
        }
    }

    fn put(&self, element: &mut Element) -> Result<(), WriteError> {
        self.iter().try_for_each(|child| child.put(element))
    }

    fn names(all: &mut Vec<&'static str>) {
        <T as Node>::names(all);
    }

    fn find_unknown(&self, found: &mut Vec<DocumentError>) {
        self.iter().for_each(|child| Node::find_unknown(child, found));
    }

    #[cfg(test)]
    fn takes_all() -> bool {
        T::accepts("new")
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        source.flag().then(|| Node::sample(source))
    }
}

impl<T: Node> ChildField for [T; 2] {
    fn take(element: &mut Element, name: &'static str) -> Result<Self, DocumentError> {
        let children: Vec<T> = element.take_children()?;
        children
            .try_into()
            .map_err(|children: Vec<T>| element.children_error(name, "exactly two", children.len()))
    }

    fn put(&self, element: &mut Element) -> Result<(), WriteError> {
        self.iter().try_for_each(|child| child.put(element))
    }

    fn names(all: &mut Vec<&'static str>) {
        <T as Node>::names(all);
    }

    fn find_unknown(&self, found: &mut Vec<DocumentError>) {
        self.iter().for_each(|child| Node::find_unknown(child, found));
    }

    #[cfg(test)]
    fn takes_all() -> bool {
        T::accepts("new")
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        std::array::from_fn(|_| Node::sample(source))
    }
}

impl<T: Node> ChildField for Vec<T> {
    fn take(element: &mut Element, _: &'static str) -> Result<Self, DocumentError> {
        element.take_children()
    }

    fn put(&self, element: &mut Element) -> Result<(), WriteError> {
        self.iter().try_for_each(|child| child.put(element))
    }

    fn names(all: &mut Vec<&'static str>) {
        <T as Node>::names(all);
    }

    fn find_unknown(&self, found: &mut Vec<DocumentError>) {
        self.iter().for_each(|child| Node::find_unknown(child, found));
    }

    #[cfg(test)]
    fn takes_all() -> bool {
        T::accepts("new")
    }

    #[cfg(test)]
    fn sample(source: &mut Source) -> Self {
        (0..source.below(4)).map(|_| Node::sample(source)).collect()
    }
}

/// Defines structs for elements. `| "other"` is an alternative spelling of the element's name.
macro_rules! element {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident = $tag:literal $(| $other:literal)? {
            $( attributes { $( $(#[$attribute_meta:meta])* $attribute:ident: $value:ty = $text:literal, )* } )?
            $( children { $( $(#[$child_meta:meta])* $child:ident: $node:ty = $children:literal, )* } )?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "the names of some fields say it")]
        pub struct $name {
            $( $( $(#[$attribute_meta])* pub $attribute: $value, )* )?
            $( $( $(#[$child_meta])* pub $child: $node, )* )?
            /// Parts that the guide does not define.
            pub extra: $crate::documents::Extra,
            /// Position in the text.
            pub position: $crate::documents::Position,
        }

        impl $crate::documents::element::Node for $name {
            fn accepts(name: &str) -> bool {
                name == $tag $( || name == $other )?
            }

            #[allow(unused_mut, reason = "elements without attributes and children")]
            fn from_element(
                mut element: $crate::documents::Element,
            ) -> Result<Self, $crate::documents::DocumentError> {
                #[allow(unused_imports, reason = "elements without attributes or children")]
                use $crate::documents::element::{AttributeField, ChildField};
                $( $( let $attribute = AttributeField::take(&mut element, $text)?; )* )?
                $( $( let $child = ChildField::take(&mut element, $children)?; )* )?
                let position = element.position;
                Ok(Self { $( $( $attribute, )* )? $( $( $child, )* )? extra: element.into_extra($tag)?, position })
            }

            fn to_element(
                &self,
            ) -> Result<$crate::documents::Element, $crate::documents::WriteError> {
                #[allow(unused_imports, reason = "elements without attributes or children")]
                use $crate::documents::element::{AttributeField, ChildField};
                let mut element = $crate::documents::Element::begin($tag, &self.extra);
                $( $( self.$attribute.put(&mut element, $text)?; )* )?
                $( $( self.$child.put(&mut element)?; )* )?
                element.end(&self.extra);
                Ok(element)
            }

            fn names(all: &mut Vec<&'static str>) {
                all.extend([$tag $(, $other)?]);
            }

            fn find_unknown(&self, found: &mut Vec<$crate::documents::DocumentError>) {
                #[allow(unused_imports, reason = "elements without children")]
                use $crate::documents::element::ChildField;
                #[allow(unused_mut, reason = "elements without children")]
                let mut children: Vec<&'static str> = Vec::new();
                $( $( <$node as ChildField>::names(&mut children); )* )?
                let name = self.extra.name.as_deref().unwrap_or($tag);
                self.extra.find_unknown(name, &[$( $( $text, )* )?], &children, found);
                $( $( ChildField::find_unknown(&self.$child, found); )* )?
            }

            #[cfg(test)]
            fn sample(source: &mut $crate::documents::properties::Source) -> Self {
                #[allow(unused_imports, reason = "elements without attributes or children")]
                use $crate::documents::element::{AttributeField, ChildField};
                Self {
                    $( $( $attribute: AttributeField::sample(source), )* )?
                    $( $( $child: ChildField::sample(source), )* )?
                    extra: source.extra(&[$($other)?], !(false $( $( || <$node as ChildField>::takes_all() )* )?)),
                    position: $crate::documents::Position::default(),
                }
            }
        }
    )*};
}
pub(super) use element;

/// Defines an enum of elements. With `Unknown` it accepts all other elements too.
macro_rules! choice {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$one:meta])* $variant:ident($node:ty), )* $(@ $(#[$unknown_meta:meta])* $unknown:ident)? }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "the names of some variants say it")]
        pub enum $name {
            $( $(#[$one])* $variant($node), )*
            $( $(#[$unknown_meta])* $unknown($crate::documents::Element), )?
        }

        impl $name {
            /// Position in the text.
            pub fn position(&self) -> $crate::documents::Position {
                match self {
                    $( Self::$variant(node) => node.position, )*
                    $( Self::$unknown(element) => element.position, )?
                }
            }
        }

        impl $crate::documents::element::Node for $name {
            fn accepts(_name: &str) -> bool {
                choice!(@accepts _name, [$($node),*] $($unknown)?)
            }

            fn from_element(
                element: $crate::documents::Element,
            ) -> Result<Self, $crate::documents::DocumentError> {
                $( if <$node>::accepts(&element.name) {
                    return <$node>::from_element(element).map(Self::$variant);
                } )*
                choice!(@otherwise element $($unknown)?)
            }

            fn to_element(
                &self,
            ) -> Result<$crate::documents::Element, $crate::documents::WriteError> {
                match self {
                    $( Self::$variant(node) => node.to_element(), )*
                    $( Self::$unknown(element) => Ok(element.clone()), )?
                }
            }

            fn names(all: &mut Vec<&'static str>) {
                $( <$node as $crate::documents::element::Node>::names(all); )*
            }

            fn find_unknown(&self, found: &mut Vec<$crate::documents::DocumentError>) {
                match self {
                    $( Self::$variant(node) => $crate::documents::element::Node::find_unknown(node, found), )*
                    $( Self::$unknown(element) => {
                        let mut known = Vec::new();
                        <Self as $crate::documents::element::Node>::names(&mut known);
                        found.push($crate::documents::element::kept_element(element, &known));
                    } )?
                }
            }

            #[cfg(test)]
            fn sample(source: &mut $crate::documents::properties::Source) -> Self {
                let all: &[fn(&mut $crate::documents::properties::Source) -> Self] = &[
                    $( |source| Self::$variant($crate::documents::element::Node::sample(source)), )*
                    $( |source| Self::$unknown(source.unknown_element()), )?
                ];
                source.one_of(all)(source)
            }
        }
    )*};
    (@accepts $name:ident, [$($node:ty),*]) => { false $( || <$node>::accepts($name) )* };
    (@accepts $name:ident, [$($node:ty),*] $unknown:ident) => { true };
    (@otherwise $element:ident) => {
        Err($crate::documents::DocumentError {
            position: $element.position,
            problem: $crate::documents::Problem::Unknown { element: $element.name, hint: String::new() },
        })
    };
    (@otherwise $element:ident $unknown:ident) => { Ok(Self::$unknown($element)) };
}
pub(super) use choice;
