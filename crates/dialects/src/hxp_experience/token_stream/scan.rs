//! The pass over the bytes that records the tokens. It recurses into nested values, up to the
//! nesting limit.

use super::reader::{ReadStopped, Reader, VALUE, to_u32};
use super::{JsonKind, MemberName, Token, Unreadable};

pub(super) struct Scan<'s> {
    reader: Reader<'s>,
    marks: &'s mut Vec<Token>,
}

impl<'s> Scan<'s> {
    /// Records a token for every value of a text.
    pub(super) fn read(text: &'s str, marks: &'s mut Vec<Token>) -> Result<(), Unreadable> {
        let mut scan = Self { reader: Reader::new(text), marks };
        scan.whole().map_err(|ReadStopped| scan.reader.to_error(text))
    }

    fn whole(&mut self) -> Result<(), ReadStopped> {
        let (from, first) = self.reader.token(0);
        let end = self.value(from, first, MemberName::NONE, 0)?;
        let (end, _) = self.reader.token(end);
        if self.reader.is_end(end) { Ok(()) } else { self.reader.stop(end, "nothing more") }
    }

    /// Records the value that starts here and all values in it; returns the position after it.
    #[inline]
    fn value(
        &mut self,
        at: usize,
        first: u8,
        named: MemberName,
        depth: usize,
    ) -> Result<usize, ReadStopped> {
        match first {
            b'"' => {
                let (to, escaped) = self.reader.string(at + 1)?;
                self.push_token(JsonKind::Text, escaped, named, at + 1, to);
                Ok(to + 1)
            }
            b'-' | b'0'..=b'9' => {
                let to = self.reader.number(at)?;
                self.push_token(JsonKind::Number, false, named, at, to);
                Ok(to)
            }
            b'{' => self.object(at, named, depth),
            b'[' => self.list(at, named, depth),
            b't' => self.word(at, b"true", JsonKind::True, named),
            b'f' => self.word(at, b"false", JsonKind::False, named),
            b'n' => self.word(at, b"null", JsonKind::Null, named),
            _ => self.reader.stop(at, VALUE),
        }
    }

    fn object(
        &mut self,
        from: usize,
        named: MemberName,
        depth: usize,
    ) -> Result<usize, ReadStopped> {
        let depth = self.reader.down(depth)?;
        let begun = self.begin(JsonKind::Object, from, named);
        let (mut at, mut byte) = self.reader.token(from + 1);
        let (mut seen, mut twice) = (0_u64, false);
        if byte != b'}' {
            loop {
                if byte != b'"' {
                    return self.reader.stop(at, "a name in double quotes");
                }
                let (named, bit, to) = self.reader.name(at + 1)?;
                twice |= seen & bit != 0;
                seen |= bit;
                (at, byte) = self.reader.token(to + 1);
                if byte != b':' {
                    return self.reader.stop(at, "`:`");
                }
                (at, byte) = self.reader.token(at + 1);
                at = self.value(at, byte, named, depth)?;
                (at, byte) = self.reader.token(at);
                match byte {
                    b',' => (at, byte) = self.reader.token(at + 1),
                    b'}' => break,
                    _ => return self.reader.stop(at, "`,` or `}`"),
                }
            }
        }
        self.end(begun, at + 1, twice);
        Ok(at + 1)
    }

    fn list(&mut self, from: usize, named: MemberName, depth: usize) -> Result<usize, ReadStopped> {
        let depth = self.reader.down(depth)?;
        let begun = self.begin(JsonKind::List, from, named);
        let (mut at, mut byte) = self.reader.token(from + 1);
        if byte != b']' {
            loop {
                at = self.value(at, byte, MemberName::NONE, depth)?;
                (at, byte) = self.reader.token(at);
                match byte {
                    b',' => (at, byte) = self.reader.token(at + 1),
                    b']' => break,
                    _ => return self.reader.stop(at, "`,` or `]`"),
                }
            }
        }
        self.end(begun, at + 1, false);
        Ok(at + 1)
    }

    fn begin(&mut self, kind: JsonKind, at: usize, named: MemberName) -> usize {
        self.push_token(kind, false, named, at, at);
        self.marks.len() - 1
    }

    fn end(&mut self, begun: usize, at: usize, twice: bool) {
        let next = to_u32(self.marks.len());
        if let Some(mark) = self.marks.get_mut(begun) {
            (mark.to, mark.next, mark.twice) = (to_u32(at), next, twice);
        }
    }

    #[inline]
    fn push_token(
        &mut self,
        kind: JsonKind,
        escaped: bool,
        named: MemberName,
        from: usize,
        to: usize,
    ) {
        let next = to_u32(self.marks.len() + 1);
        let (from, to) = (to_u32(from), to_u32(to));
        let MemberName { name, from: named } = named;
        self.marks.push(Token { kind, escaped, twice: false, name, named, from, to, next });
    }

    #[inline]
    fn word(
        &mut self,
        at: usize,
        word: &[u8],
        kind: JsonKind,
        named: MemberName,
    ) -> Result<usize, ReadStopped> {
        let to = self.reader.word(at, word)?;
        self.push_token(kind, false, named, at, to);
        Ok(to)
    }
}
