// What a rule of method tpm asks for, on its way in and out. docs/protocol.md JNR-40.

import { randomBytes } from 'node:crypto'
import { readCertificateNames } from '../../../pki/certificate-fields.ts'
import { type AdminTpms, TPM_AUTHORITIES_MAX } from '../../../protocol/admin/join-methods.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { parseHostname } from '../../../protocol/identifiers.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { matchesPattern } from '../../domain/name-pattern.ts'
import { lookUpKeyOfEk, lookUpKeyOfIssuer, type TpmProof } from '../../domain/tpm-proof.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { readAuthorities, toAdminAuthorities } from './certificate-proof.ts'
import { refuseManyRules } from './refuse-many-rules.ts'

type WantedTpms = NonNullable<AdminRequest<'createJoinRule'>['tpm']>

/** Throws an AdminRefusal on what no TPM could be. */
export async function parseTpmProof(
  reader: StoreReader,
  { ca, keys }: WantedTpms,
  pattern: string,
): Promise<TpmProof> {
  if ((ca === undefined) === (keys === undefined)) {
    throw new AdminRefusal('request_invalid', 'tpm has either ca or keys')
  }
  const authorities = ca === undefined ? {} : sortAuthorities(ca)
  const hostnames = keys === undefined ? {} : readList(keys, pattern)
  const lookUpKeys = Object.keys({ ...authorities, ...hostnames })
  await refuseManyRules(reader, lookUpKeys)
  const useKey = hashToken(randomBytes(32).toString('base64url'))
  return { method: 'tpm', useKey, lookUpKeys, authorities, hostnames }
}

function sortAuthorities(ca: string): TpmProof['authorities'] {
  const sorted: Record<string, string[]> = {}
  for (const { x509 } of readAuthorities(ca, TPM_AUTHORITIES_MAX)) {
    const key = lookUpKeyOfIssuer(readCertificateNames(x509.raw)?.subject ?? Buffer.alloc(0))
    sorted[key] = [...(sorted[key] ?? []), x509.raw.toString('base64')]
  }
  return sorted
}

function readList(keys: NonNullable<WantedTpms['keys']>, pattern: string): TpmProof['hostnames'] {
  const listed: Record<string, string | null> = {}
  for (const { ek_sha256: sha256, hostname } of keys) {
    const key = lookUpKeyOfEk(sha256)
    if (Object.hasOwn(listed, key)) throw refuse(`${sha256} is there twice`)
    const name = hostname === undefined ? null : parseHostname(hostname)
    if (name === undefined || (name !== null && !matchesPattern(pattern, name))) {
      throw refuse(`${hostname} is no hostname that ${pattern} matches`)
    }
    listed[key] = name
  }
  return listed
}

function refuse(fault: string): AdminRefusal {
  return new AdminRefusal('tpm_keys_invalid', `the list of TPMs: ${fault}`)
}

export function toAdminTpms({ authorities, hostnames }: TpmProof): AdminTpms {
  const names = Object.values(hostnames)
  return {
    ...toAdminAuthorities({ authorities: Object.values(authorities).flat() }),
    keys: names.length,
    keys_with_hostname: names.filter((name) => name !== null).length,
  }
}
