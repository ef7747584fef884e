//! What cannot be and was seen: the step ends, because none of its numbers can be trusted.
//!
//! Where a result can be returned it is [`Trouble::defect`]; deep below, where nothing can be, it
//! is [`defect`], which unwinds to [`ended_by_defects`] at the bottom of the step.

use crate::trouble::{MARK, Trouble, sentence};
use std::any::Any;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Ends the step: `what` has happened, which cannot be. Nothing is printed on the way: the sentence
/// is the trouble of the step.
#[cold]
#[inline(never)]
pub fn defect(what: impl Display) -> ! {
    resume_unwind(Box::new(sentence(what)))
}

/// Does what a step does; whatever is found to be impossible on the way is its end.
///
/// # Errors
/// Those of `run`, and any defect.
pub fn ended_by_defects<T>(run: impl FnOnce() -> Result<T, Trouble>) -> Result<T, Trouble> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| Err(caught(payload.as_ref())))
}

fn caught(payload: &(dyn Any + Send)) -> Trouble {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let said = text.or_else(|| payload.downcast_ref::<&str>().copied());
    let what = said.unwrap_or("it gave up, and its message is on stderr");
    Trouble::defect(what.strip_suffix(MARK).unwrap_or(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trouble::TroubleKind;

    #[test]
    fn what_unwinds_is_the_trouble_of_the_step() {
        let trouble = ended_by_defects::<()>(|| defect("two and two are five")).unwrap_err();
        assert_eq!(trouble.kind, TroubleKind::Defect);
        assert_eq!(trouble.text, "two and two are five (a defect of drivelab)");
        let trouble = ended_by_defects(|| Ok([1, 2][trouble.text.len()])).unwrap_err();
        assert!(trouble.text.starts_with("index out of bounds"), "{trouble}");
        assert_eq!(ended_by_defects(|| Ok(5)), Ok(5));
        let trouble = ended_by_defects::<()>(|| resume_unwind(Box::new(5))).unwrap_err();
        assert!(trouble.text.starts_with("it gave up, and its message is on stderr"), "{trouble}");
        let failed = Trouble::failed("the drive");
        assert_eq!(ended_by_defects::<()>(|| Err(failed.clone())), Err(failed));
    }
}
