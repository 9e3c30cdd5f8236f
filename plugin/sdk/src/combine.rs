//! Waiting for several things at once. Always polled in the order given, so that the same inputs give the same turns.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

/// Which of two came first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Either<A, B> {
    /// The first one.
    Left(A),
    /// The second one.
    Right(B),
}

/// Waits for both.
pub async fn join<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut left, mut right) = (None, None);
    poll_fn(|cx| {
        if left.is_none()
            && let Poll::Ready(value) = a.as_mut().poll(cx)
        {
            left = Some(value);
        }
        if right.is_none()
            && let Poll::Ready(value) = b.as_mut().poll(cx)
        {
            right = Some(value);
        }
        match (left.take(), right.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (left, right) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

/// Lets all others that have something to do go first, within this turn: what an operation begins with at once, such as its ids,
/// has begun when this is over.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Waits for all of them; the results are in the order of the futures.
pub async fn join_all<I>(futures: I) -> Vec<<I::Item as Future>::Output>
where
    I: IntoIterator,
    I::Item: Future,
{
    enum Half<F: Future> {
        Running(Pin<Box<F>>),
        Done(F::Output),
    }
    let mut halves: Vec<Half<I::Item>> = futures.into_iter().map(|future| Half::Running(Box::pin(future))).collect();
    poll_fn(|cx| {
        let mut open = false;
        for half in &mut halves {
            if let Half::Running(future) = half {
                match future.as_mut().poll(cx) {
                    Poll::Ready(value) => *half = Half::Done(value),
                    Poll::Pending => open = true,
                }
            }
        }
        if open { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    let done = halves.into_iter().filter_map(|half| match half {
        Half::Done(value) => Some(value),
        Half::Running(_) => None,
    });
    done.collect()
}

/// Waits for the first of two and drops the other, with the effects it had asked for. When both are ready, it is the
/// first one. To keep the other, give it by reference: `select(&mut a, &mut b)` with both pinned.
pub async fn select<A: Future, B: Future>(a: A, b: B) -> Either<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|cx| {
        if let Poll::Ready(value) = a.as_mut().poll(cx) {
            return Poll::Ready(Either::Left(value));
        }
        b.as_mut().poll(cx).map(Either::Right)
    })
    .await
}
