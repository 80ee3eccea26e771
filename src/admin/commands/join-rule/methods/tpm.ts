import { UserError } from '../../../../platform/errors.ts'
import {
  TPM_CA_CHARACTERS_MAX,
  TPM_KEYS_MAX,
  TPM_LIST_BYTES_MAX,
} from '../../../../protocol/admin/join-methods.ts'
import { readFrom } from '../../read-from.ts'
import type { JoinMethod, MethodRequest } from './join-method.ts'
import { readText } from './read-text.ts'

export interface TpmOptions {
  readonly tpmCa?: string
  readonly tpmKeys?: string
}

/** Method tpm: a TPM 2.0 that its maker certified, or that a list has. */
export const tpmMethod: JoinMethod<TpmOptions> = {
  addOptions: (command) =>
    command
      .option('--tpm-ca <file>', 'they show a TPM 2.0 that one of these CAs certified (PEM)')
      .option('--tpm-keys <file>', 'they show a TPM 2.0 of this list, made by svc-agent tpm'),
  read: async (context, { tpmCa, tpmKeys }) => {
    if (tpmCa !== undefined && tpmKeys !== undefined) {
      throw new UserError('usage', '--tpm-ca and --tpm-keys do not go together', {
        hint: 'make a rule for each',
      })
    }
    const readCa = readText('--tpm-ca', 'ca_invalid', TPM_CA_CHARACTERS_MAX)
    const ca = await readFrom(context, tpmCa, readCa)
    if (ca !== undefined) return { method: 'tpm', tpm: { ca } }
    const readList = readText('--tpm-keys', 'tpm_keys_invalid', TPM_LIST_BYTES_MAX)
    const list = await readFrom(context, tpmKeys, readList)
    return list === undefined ? undefined : { method: 'tpm', tpm: { keys: parseList(list) } }
  },
  describe: ({ tpm }) => {
    if (!tpm) return {}
    const makers = tpm.authorities.map(({ subject, sha256 }) => {
      return `${subject} (${sha256.slice(0, 16)})`
    })
    if (makers.length > 0) return { authorities: makers.join('; ') }
    return { tpms: `${tpm.keys} (${tpm.keys_with_hostname} for one hostname each)` }
  },
  help: `With --tpm-ca or --tpm-keys a host shows its TPM 2.0, which no copy of its disk has: no secret has to be brought to it. --tpm-ca is for what
makers certified; the file has the makers' CAs, each of which is trusted for itself, so it needs those that sign certificates of TPMs,
not their root alone. --tpm-keys is a list, which also takes TPMs without a certificate, as many virtual ones: a line for each, which
svc-agent tpm prints on the host, of the SHA-256 of its endorsement key and the hostname that it is for; without a hostname it is for
any that the pattern matches. A TPM lets one host in. On the host, SVC_ENROLL_TPM=1 in place of a token; it needs tpm2-tools.`,
  examples: [
    `svc join-rule create laptops --tpm-ca makers.pem --pattern 'lt-*.example.org' --role laptop --max-hosts 300`,
    `svc join-rule create racks --tpm-keys racks.txt --pattern 'r*.dc1.example.org' --role storage --max-hosts 40 --ttl 30d`,
  ],
}

type ListedKeys = NonNullable<NonNullable<MethodRequest['tpm']>['keys']>

function parseList(text: string): ListedKeys {
  const keys = text.split('\n').flatMap((line, at) => parseLine(line, at + 1))
  if (keys.length >= 1 && keys.length <= TPM_KEYS_MAX) return keys
  throw new UserError('tpm_keys_invalid', `--tpm-keys: not 1 to ${TPM_KEYS_MAX} lines`, {
    hint: 'make several rules for more hosts',
  })
}

/** `#` begins what is for people. */
function parseLine(line: string, number: number): ListedKeys {
  const [hash, hostname, ...rest] = line.replace(/#.*/, '').trim().split(/\s+/)
  if (hash === undefined || hash === '') return []
  const ek_sha256 = hash.replaceAll(':', '').toLowerCase()
  if (/^[0-9a-f]{64}$/.test(ek_sha256) && rest.length === 0) {
    return [{ ek_sha256, ...(hostname !== undefined && { hostname }) }]
  }
  throw new UserError(
    'tpm_keys_invalid',
    `--tpm-keys: line ${number} is not a SHA-256 in hex, and a hostname if somebody wants that`,
    { hint: 'svc-agent tpm prints the line of a host' },
  )
}
