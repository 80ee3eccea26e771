// The command that an operator pastes on a host to enrol it.

import { parseCertificatesPem } from '../../../pki/certificates.ts'
import { quoteForShell } from '../../../platform/quote-for-shell.ts'
import type { JoinRule } from '../../domain/join-rule.ts'
import type { StoreReader } from '../../store/store.ts'
import type { AdminRoots } from '../roots/bundle-operations.ts'
import type { AdminContext } from './admin-context.ts'

const NO_ROOT_YET =
  'the hub knows no root before its first start; after it the command has --ca-fingerprint'

export type AgentCommandContext = Pick<AdminContext, 'addresses' | 'roots'>

export interface AgentCommand {
  readonly agent_command: string
  /** What is to be set before the command works. */
  readonly note?: string
}

/** What the host shows, where there is no token to print: the paths are for the operator to fill in. */
const SHOWN: Readonly<Record<Exclude<JoinRule['proof']['method'], 'token'>, string>> = {
  jwt: 'SVC_ENROLL_TOKEN_FILE=/path/to/token',
  ssh: 'SVC_ENROLL_SSH_HOST_KEY=/etc/ssh/ssh_host_ed25519_key',
  x5c: 'SVC_ENROLL_HOST_CERTIFICATE=/path/to/certificate.pem SVC_ENROLL_HOST_KEY=/path/to/key.pem',
  tpm: 'SVC_ENROLL_TPM=1',
}

/** Without a hostname it is for any host, which has its own. */
export async function agentCommand(
  reader: StoreReader,
  { addresses, roots }: AgentCommandContext,
  {
    hostname,
    role,
    token,
    method = 'token',
  }: {
    hostname?: string
    role: string
    token: string | undefined
    method?: JoinRule['proof']['method']
  },
): Promise<AgentCommand> {
  const pins = addresses.isOwnTls === true ? await findPins(reader, roots) : []
  const isUnpinned = addresses.isOwnTls === true && pins.length === 0
  const note = addresses.note ?? (isUnpinned ? NO_ROOT_YET : undefined)
  return {
    agent_command: [
      `SVC_SERVER_URL=${quoteForShell(addresses.enrollUrl)}`,
      `SVC_SERVER_MTLS_URL=${quoteForShell(addresses.mtlsUrl)}`,
      ...(hostname === undefined ? [] : [`SVC_AGENT_HOSTNAME=${hostname}`]),
      `SVC_AGENT_ROLE=${quoteForShell(role)}`,
      method === 'token' ? `SVC_ENROLL_TOKEN=${token}` : SHOWN[method],
      'svc-agent enroll',
      ...pins.map((fingerprint) => `--ca-fingerprint ${fingerprint}`),
    ].join(' '),
    ...(note === undefined ? {} : { note }),
  }
}

/**
 * All roots in force: the host's certificate may lead to another one than the hub's own, while one replaces another. The hub's
 * own is the last: agents up to 0.4.0 keep the last one that is named.
 */
async function findPins(reader: StoreReader, roots: AdminRoots | undefined): Promise<string[]> {
  const set = await reader.findRootSet()
  const fingerprints = parseCertificatesPem(set?.pem ?? '').map(({ sha256 }) => sha256)
  const own = roots?.serverRoot()?.sha256
  const isLast = (fingerprint: string): number => (fingerprint === own ? 1 : 0)
  return fingerprints.toSorted((one, other) => isLast(one) - isLast(other))
}
