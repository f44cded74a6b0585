//! The pass over the bytes that records the marks. It recurses into nested values, up to the
//! nesting limit.

use super::reader::{Reader, Stopped, VALUE, short};
use super::{Kind, Mark, Named, Unreadable};

pub(super) struct Scan<'s> {
    reader: Reader<'s>,
    marks: &'s mut Vec<Mark>,
}

impl<'s> Scan<'s> {
    /// Records a mark for every value of a text.
    pub(super) fn read(text: &'s str, marks: &'s mut Vec<Mark>) -> Result<(), Unreadable> {
        let mut scan = Self { reader: Reader::new(text), marks };
        scan.whole().map_err(|Stopped| scan.reader.why(text))
    }

    fn whole(&mut self) -> Result<(), Stopped> {
        let (from, first) = self.reader.token(0);
        let end = self.value(from, first, Named::NOT, 0)?;
        let (end, _) = self.reader.token(end);
        if self.reader.is_end(end) { Ok(()) } else { self.reader.stop(end, "nothing more") }
    }

    /// Marks the value that starts here and everything in it; returns the position after it.
    #[inline]
    fn value(
        &mut self,
        at: usize,
        first: u8,
        named: Named,
        depth: usize,
    ) -> Result<usize, Stopped> {
        match first {
            b'"' => {
                let (to, escaped) = self.reader.string(at + 1)?;
                self.mark(Kind::Text, escaped, named, at + 1, to);
                Ok(to + 1)
            }
            b'-' | b'0'..=b'9' => {
                let to = self.reader.number(at)?;
                self.mark(Kind::Number, false, named, at, to);
                Ok(to)
            }
            b'{' => self.object(at, named, depth),
            b'[' => self.list(at, named, depth),
            b't' => self.word(at, b"true", Kind::True, named),
            b'f' => self.word(at, b"false", Kind::False, named),
            b'n' => self.word(at, b"null", Kind::Null, named),
            _ => self.reader.stop(at, VALUE),
        }
    }

    fn object(&mut self, from: usize, named: Named, depth: usize) -> Result<usize, Stopped> {
        let depth = self.reader.down(depth)?;
        let begun = self.begin(Kind::Object, from, named);
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

    fn list(&mut self, from: usize, named: Named, depth: usize) -> Result<usize, Stopped> {
        let depth = self.reader.down(depth)?;
        let begun = self.begin(Kind::List, from, named);
        let (mut at, mut byte) = self.reader.token(from + 1);
        if byte != b']' {
            loop {
                at = self.value(at, byte, Named::NOT, depth)?;
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

    fn begin(&mut self, kind: Kind, at: usize, named: Named) -> usize {
        self.mark(kind, false, named, at, at);
        self.marks.len() - 1
    }

    fn end(&mut self, begun: usize, at: usize, twice: bool) {
        let next = short(self.marks.len());
        if let Some(mark) = self.marks.get_mut(begun) {
            (mark.to, mark.next, mark.twice) = (short(at), next, twice);
        }
    }

    #[inline]
    fn mark(&mut self, kind: Kind, escaped: bool, named: Named, from: usize, to: usize) {
        let next = short(self.marks.len() + 1);
        let (from, to) = (short(from), short(to));
        let Named { name, from: named } = named;
        self.marks.push(Mark { kind, escaped, twice: false, name, named, from, to, next });
    }

    #[inline]
    fn word(&mut self, at: usize, word: &[u8], kind: Kind, named: Named) -> Result<usize, Stopped> {
        let to = self.reader.word(at, word)?;
        self.mark(kind, false, named, at, to);
        Ok(to)
    }
}
