/** A signal that aborts with a TimeoutError when the time is over before the work is. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal
}

/**
 * Where work usually ends long before its deadline: a signal of AbortSignal.timeout lives until then whatever happens, with its
 * timer, and makes an error with a stack that nobody looks at.
 */
export function startDeadline(milliseconds: number): Deadline {
  const controller = new AbortController()
  // tidy: like AbortSignal.timeout, by real time, whatever a Clock says.
  const timer = setTimeout(() => controller.abort(timedOut(milliseconds)), milliseconds).unref()
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

function timedOut(milliseconds: number): DOMException {
  return new DOMException(`not done within ${milliseconds} ms`, 'TimeoutError')
}
