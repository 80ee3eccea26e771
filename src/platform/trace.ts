// Which request of somebody else something is done for: W3C Trace Context, passed on and never recorded as spans. The only thing that
// travels beside the arguments: what is between a door and a call to the CA has no use for it. docs/protocol.md LOG-10.

import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

export interface Trace {
  /** 32 hexadecimal digits, not all of them zero. */
  readonly traceId: string
  /** 16 of them: the step of the trace that asks for the next one. */
  readonly spanId: string
  /** Two: whether somebody records it. */
  readonly flags: string
}

const TRACEPARENT =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-[\x21-\x7e]{0,200})?$/
const NO_TRACE = /^0+$/
/** Sampled, and made at random. */
const KNOWN_FLAGS = 0x03
const NOT_SAMPLED = '00'

const current = new AsyncLocalStorage<Trace>()

/** Undefined for what is no `traceparent`. A later version may have more behind what this one has. */
export function parseTraceparent(text: string | undefined): Trace | undefined {
  const {
    version = 'ff',
    traceId = '',
    spanId = '',
    flags = '',
    more,
  } = TRACEPARENT.exec(text ?? '')?.groups ?? {}
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (NO_TRACE.test(traceId) || NO_TRACE.test(spanId)) return undefined
  const known = Number.parseInt(flags, 16) & KNOWN_FLAGS
  return { traceId, spanId, flags: known.toString(16).padStart(2, '0') }
}

export function formatTraceparent({ traceId, spanId, flags }: Trace): string {
  return `00-${traceId}-${spanId}-${flags}`
}

/** A step of one’s own, in the trace of the caller or, where there is none, in a new one. */
export function beginStep(caller: Trace | undefined, newTraceId = randomHex(16)): Trace {
  const { traceId, flags } = caller ?? { traceId: newTraceId, flags: NOT_SAMPLED }
  return { traceId, spanId: randomHex(8), flags }
}

/** What `work` does, and what it waits for, is for this trace. */
export function withTrace<T>(trace: Trace, work: () => T): T {
  return current.run(trace, work)
}

/** Undefined for what a program does by itself. */
export function currentTrace(): Trace | undefined {
  return current.getStore()
}

/** Of a request id: it is drawn from a pool, which costs a quarter of a draw of its own. */
function randomHex(bytes: number): string {
  return randomUUID()
    .replaceAll('-', '')
    .slice(0, 2 * bytes)
}
