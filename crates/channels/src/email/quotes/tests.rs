use proptest::prelude::*;

use super::*;

#[test]
fn what_was_written() {
    for (what, text, left) in [
        ("nothing quoted", "Yes\n\nGo ahead.\n", "Yes\n\nGo ahead."),
        ("above", "Yes\n\nOn Mon, 2 Mar 2026 at 09:00, X <x@y.z> wrote:\n> May I?\n", "Yes"),
        (
            "broken over lines",
            "Yes\n\nOn Mon, 2 Mar 2026 at 09:00, X <x@y.z>\nwrote:\n\n> May I?",
            "Yes",
        ),
        ("below", "On Mon, X <x@y.z> wrote:\n> May I?\n\nYes, do.", "Yes, do."),
        ("between", "> One?\nyes\n> Two?\nno\n> Three?", "yes\n\nno"),
        ("nested", "ok\n>> a\n> > b\n>c", "ok"),
        ("German", "Ja\n\nAm 02.03.26 um 09:00 schrieb X:\n> Darf ich?", "Ja"),
        ("French", "Oui\n\nLe lun. 2 mars 2026 à 09:00, X <x@y.z> a écrit :\n> Puis-je ?", "Oui"),
        (
            "Spanish",
            "Sí\n\nEl lun, 2 mar 2026 a las 9:00, X (<x@y.z>) escribió:\n\n> ¿Puedo?",
            "Sí",
        ),
        (
            "Italian",
            "Sì\n\nIl giorno lun 2 mar 2026 alle ore 09:00 X <x@y.z>\nha scritto:\n> Posso?",
            "Sì",
        ),
        (
            "Portuguese",
            "Sim\n\nEm seg., 2 de mar. de 2026 às 09:00, X <x@y.z> escreveu:\n> Posso?",
            "Sim",
        ),
        ("Dutch", "Ja\n\nOp ma 2 mrt 2026 om 09:00 schreef X <x@y.z>:\n> Mag ik?", "Ja"),
        ("Swedish", "Ja\n\nDen mån 2 mars 2026 kl 09:00 skrev X <x@y.z>:\n> Får jag?", "Ja"),
        ("Polish", "Tak\n\npon., 2 mar 2026 o 09:00 X <x@y.z> napisał(a):\n> Mogę?", "Tak"),
        ("Russian", "Да\n\nпн, 2 мар. 2026 г. в 09:00, X <x@y.z>:\n> Можно?", "Да"),
        ("Chinese", "好\n\nX <x@y.z> 于2026年3月2日周一 09:00写道：\n> 可以吗", "好"),
        ("Japanese", "はい\n\n2026年3月2日(月) 9:00 X <x@y.z>:\n> よろしいですか", "はい"),
        ("an answer right above", "Yes\nX <x@y.z>:\n> May I?", "Yes"),
        ("Outlook", "Yes\n\n-----Original Message-----\nFrom: X\n\nMay I?", "Yes"),
        ("German Outlook", "Ja\n\n-----Ursprüngliche Nachricht-----\nVon: X\nDarf ich?", "Ja"),
        (
            "its headers",
            "Yes\n\nFrom: X <x@y.z>\nSent: Monday, 2 March 2026\nTo: Ada\nSubject: May I?\n\nMay I?",
            "Yes",
        ),
        (
            "under a rule",
            "Oui\n\n________________________________\nDe : X <x@y.z>\nEnvoyé : lundi\nÀ : Ada\nObjet : Puis-je\n\nPuis-je",
            "Oui",
        ),
        (
            "in bold",
            "Ja\n\n*Von:* X <x@y.z>\n*Gesendet:* Montag\n*An:* Ada\n*Betreff:* Darf ich\n\nDarf ich",
            "Ja",
        ),
        (
            "a header alone",
            "From: the warehouse\nWe have three.",
            "From: the warehouse\nWe have three.",
        ),
        ("our line", "Yes\n\nReply above this line\n\nMay I?", "Yes"),
        ("our line, decorated", "Yes\n\n**## REPLY ABOVE THIS LINE ##**\nMay I?", "Yes"),
        (
            "our line below a strange attribution",
            "Ano\nPo 2. 3. 2026 v 9:00 odesílatel X <x@y.z>:\nReply above this line",
            "Ano",
        ),
        ("our line, quoted, answered below", "> Reply above this line\n> May I?\nYes", "Yes"),
        (
            "history without marks",
            "Yes\n\nOn 2 Mar 2026, at 09:00, X <x@y.z> wrote:\n\nMay I?\n\nThanks",
            "Yes",
        ),
        (
            "words that only look like it",
            "On reflection, he wrote:\nno.",
            "On reflection, he wrote:\nno.",
        ),
        ("signed", "Yes\n\n-- \nAda Lovelace\nCEO", "Yes"),
        (
            "signed above the quote",
            "Yes\n-- \nAda\n\nOn Mon, X wrote:\n> May I?\n\nP.S. soon",
            "Yes\n\nP.S. soon",
        ),
        (
            "from a phone",
            "Yes\n\nSent from my iPhone\n\n> On 2 Mar 2026, at 09:00, X wrote:\n> \n> May I?",
            "Yes",
        ),
        (
            "from a German phone",
            "Ja\n\nVon meinem iPhone gesendet\n\n> Am 02.03.2026 um 09:00 schrieb X:\n> Darf ich?",
            "Ja",
        ),
        ("but these are words", "Von meinem Chef aus: ja", "Von meinem Chef aus: ja"),
        (
            "and these, not at the end",
            "Sent from my desk at noon.\nIt is there.",
            "Sent from my desk at noon.\nIt is there.",
        ),
        (
            "Outlook on a phone",
            "Yes\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\nFrom: X\nSent: Monday\nTo: Ada\nSubject: May I?",
            "Yes",
        ),
        (
            "signed with OpenPGP",
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nYes\n\n> May I?\n\
             -----BEGIN PGP SIGNATURE-----\n\niHUEARYKAB0\n-----END PGP SIGNATURE-----",
            "Yes",
        ),
        ("only a signature", "-- \nAda", ""),
        ("only from a phone", "\n\nSent from my iPhone\n", ""),
        ("only quotes", "On Mon, 2 Mar 2026, X <x@y.z> wrote:\n> May I?", ""),
        ("nothing", "", ""),
        ("blank", " \n\u{a0}\n\t\n", ""),
        ("line ends of all kinds", "Yes\r\n\r\n> May I?\r\n", "Yes"),
        ("many empty lines", "a\n\n\n\n\nb", "a\n\nb"),
        ("NUL", "y\0es", "yes"),
    ] {
        assert_eq!(answer(text), left, "{what}");
    }
}

#[test]
fn flowed_lines_are_whole_again() {
    for (text, without_space, whole) in [
        ("one \ntwo\nthree", false, "one two\nthree\n"),
        ("one \ntwo", true, "onetwo\n"),
        ("one  \ntwo", true, "one two\n"),
        ("one \n> two \n> three", false, "one \n> two \n> three\n"),
        (" >not quoted", false, ">not quoted\n"),
        ("yes\n-- \nAda", false, "yes\n-- \nAda\n"),
    ] {
        assert_eq!(unflow(text, without_space), whole, "{text}");
    }
}

proptest! {
    #[test]
    fn plain_words_stay_whatever_is_quoted(
        words in "[a-z]{1,20}( [a-z]{1,20}){0,5}", quoted in "(> ?[a-zA-Z :@0-9]{0,30}\n){0,6}"
    ) {
        prop_assert_eq!(answer(&format!("{words}\n\n{quoted}")), words.clone());
        prop_assert_eq!(answer(&format!("{quoted}\n{words}")), words);
    }

    #[test]
    fn no_text_breaks_it(text in "[-\\PC\n\r>:@ ]{0,200}") {
        let left = answer(&text);
        prop_assert!(left.len() <= text.len());
    }
}
