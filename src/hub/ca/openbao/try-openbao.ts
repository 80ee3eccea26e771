// Whether OpenBao takes the hub's token for the role, and whether the role signs what hosts need; nothing is issued.
// docs/protocol.md BOOT-36.

import type { Clock } from '../../../platform/clock.ts'
import { startDeadline } from '../../../platform/deadline.ts'
import { SILENT_LOGGER } from '../../../platform/silent-logger.ts'
import { parseJson } from '../../../platform/parse-json.ts'
import { type CaReply, createCaConnection } from '../ca-connection.ts'
import { toCaError } from '../ca-failure.ts'
import { CaError } from '../certificate-authority.ts'
import { findClockAhead, type TrialResult } from '../try-authority.ts'
import { credentialOf, type OpenBaoPki, rootsSettingOf } from './openbao-client.ts'
import { createOpenBaoCall } from './openbao-connection.ts'
import { givenToken, tokenOfAppRole } from './openbao-login.ts'
import { failureOfOpenBao } from './openbao-reply.ts'

export interface TriedOpenBao extends OpenBaoPki {
  readonly rootPem: string
  readonly clock: Clock
  readonly deadlineMs?: number
}

export interface OpenBaoTrial extends TrialResult {
  /** What of the role does not fit, as far as the hub may read it. */
  readonly roleFaults: readonly string[]
}

const DEADLINE_MS = 5000
/** RFC 2606. */
const NAME = 'trial.invalid'

/** Asks for a signature with no CSR: the token and the role are looked at first, and there is nothing to sign. */
export async function tryOpenBao(options: TriedOpenBao): Promise<OpenBaoTrial> {
  const { mount, role, login, clock, deadlineMs = DEADLINE_MS } = options
  const connection = createCaConnection({
    origin: options.caUrl.origin,
    rootPem: options.tlsRootPem ?? options.rootPem,
    connectionsMax: 1,
  })
  const call = createOpenBaoCall(connection, options.namespace)
  const tokens =
    login.by === 'token'
      ? givenToken(login.token)
      : tokenOfAppRole(login, { call, clock, logger: SILENT_LOGGER, deadlineMs })
  using deadline = startDeadline(deadlineMs)
  const { signal } = deadline
  let clockAheadMs: number | undefined
  try {
    const token = await tokens.get(signal)
    const reply = await call({
      method: 'POST',
      path: `/v1/${mount}/sign/${role}`,
      fields: { csr: 'none', common_name: NAME },
      token,
      signal,
    })
    clockAheadMs = findClockAhead(reply, clock.now())
    const failure = judge(reply, options)
    if (failure !== undefined) return { failure, clockAheadMs, roleFaults: [] }
    const read = await call({ method: 'GET', path: `/v1/${mount}/roles/${role}`, token, signal })
    return { failure: undefined, clockAheadMs, roleFaults: findRoleFaults(read) }
  } catch (error) {
    const failure = toCaError(error, signal, deadlineMs, rootsSettingOf(options))
    return { failure, clockAheadMs, roleFaults: [] }
  } finally {
    await connection.close()
  }
}

function judge(reply: CaReply, { login }: OpenBaoPki): CaError | undefined {
  const { status } = reply
  if (status === 200) {
    return new CaError('wrong_certificate', 'the CA signed where there was nothing to sign', {
      variable: 'SVC_CA_URL',
    })
  }
  const failure = failureOfOpenBao(reply, 'take a trial', credentialOf(login))
  return status === 400 && failure.variable === undefined ? undefined : failure
}

/** A token that may sign need not be allowed to read the role: then nothing is known of it. */
function findRoleFaults({ status, body }: CaReply): string[] {
  const { data } = (parseJson(body) ?? {}) as { readonly data?: Readonly<Record<string, unknown>> }
  if (status !== 200 || typeof data !== 'object' || data === null) return []
  const is = (name: string, value: boolean): boolean => data[name] === value
  return [
    ...(is('use_csr_sans', true)
      ? ['use_csr_sans: it takes the names of the CSR, and those of a carga are left out']
      : []),
    ...(is('client_flag', false) ? ['client_flag: agents get no certificate for clients'] : []),
    ...(is('server_flag', false) ? ['server_flag: nobody gets a certificate for servers'] : []),
    ...(is('no_store', true) ? ['no_store: nothing that it signs can be revoked'] : []),
    ...(is('generate_lease', true)
      ? ['generate_lease: certificates are revoked when the token of the hub ends']
      : []),
  ]
}
