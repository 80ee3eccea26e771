// Why there is no usable answer of the CA, and which setting that speaks of.

import {
  classifyConnectionFailure,
  type ConnectionFailure as ConnectionFault,
} from '../../platform/connection-failure.ts'
import type { Logger } from '../../platform/logger.ts'
import { currentTrace } from '../../platform/trace.ts'
import { type CaReply, ConnectionFailure } from './ca-connection.ts'
import { CaError, type CaSetting, type SignRequest } from './certificate-authority.ts'

/** What a wrong URL looks like; the CA may be down as well. */
const OF_THE_URL: ReadonlySet<ConnectionFault> = new Set([
  'other_names',
  'no_tls',
  'tls_refused',
  'unreachable',
  'timeout',
])

/** `roots` is where the roots are by which the hub knows the CA's own certificate. */
export function toCaError(
  error: unknown,
  signal: AbortSignal,
  deadlineMs: number,
  roots: CaSetting = 'SVC_CA_ROOT_CA_PATH',
  url: CaSetting = 'SVC_CA_URL',
): CaError {
  if (error instanceof CaError) return error
  if (signal.aborted || isTimeout(error)) {
    const message = `the CA did not answer within ${deadlineMs / 1000} s`
    return new CaError('timeout', message, { cause: error, variable: url })
  }
  if (error instanceof ConnectionFailure) {
    const fault = classifyConnectionFailure(error.cause)
    const ofUrl = OF_THE_URL.has(fault) ? url : undefined
    const variable = fault === 'untrusted' ? roots : ofUrl
    return new CaError('unreachable', `the CA cannot be reached: ${error.message}`, { variable })
  }
  // Not a matter of the CA: a bug, which must not be taken for an outage.
  throw error
}

/** The look-up of the provisioner's name has a deadline of its own, which can be the first to pass. */
function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}

/**
 * A no, or a certificate, is the answer to one request; the CA may have signed for any other that it saw. `reply` is that to the
 * last one, where there was any: a login, or a question for the provisioner, that is refused in between answers none.
 */
export function withLostAnswer(
  failure: CaError,
  timesSent: number,
  reply: CaReply | undefined,
): CaError {
  const { reason, message, cause, status, variable, leaf } = failure
  const isNo = reply !== undefined && reply.status >= 400 && reply.status < 500
  const answers = isNo || leaf !== undefined ? 1 : 0
  const isAnswerLost = timesSent > answers
  return new CaError(reason, message, { cause, status, variable, leaf, isAnswerLost })
}

/** One line of the hub's log for each certificate that a CA of any kind did not give. */
export function logNoCertificate(
  logger: Logger,
  { commonName }: Pick<SignRequest, 'commonName'>,
  { reason, status, message, variable }: CaError,
): void {
  const fields = { common_name: commonName, reason, ca_status: status, fault: message, variable }
  logger.warn({ ...fields, trace_id: currentTrace()?.traceId }, 'no certificate from the CA')
}
