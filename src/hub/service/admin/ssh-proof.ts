// What a rule of method ssh asks for, on its way in and out. docs/protocol.md JNR-27.

import { randomBytes } from 'node:crypto'
import {
  type AdminKnownHosts,
  KNOWN_HOSTS_CHARACTERS_MAX,
} from '../../../protocol/admin/join-methods.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { type KnownHost, parseKnownHosts } from '../../../ssh/known-hosts.ts'
import { fingerprintOf } from '../../../ssh/public-key.ts'
import { hashToken } from '../../domain/hash-token.ts'
import { lookUpKeyOfSsh, type SshProof } from '../../domain/host-proof.ts'
import type { StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { refuseManyRules } from './refuse-many-rules.ts'

/** Throws an AdminRefusal on lines that let in nobody. */
export async function parseSshProof(
  reader: StoreReader,
  { known_hosts }: NonNullable<AdminRequest<'createJoinRule'>['ssh']>,
): Promise<SshProof> {
  if (known_hosts.length > KNOWN_HOSTS_CHARACTERS_MAX) {
    const fault = `known_hosts has more than ${KNOWN_HOSTS_CHARACTERS_MAX} characters`
    throw new AdminRefusal('known_hosts_invalid', fault)
  }
  const { hosts, ignored } = parseKnownHosts(known_hosts)
  if (hosts.every(({ kind }) => kind === 'revoked')) {
    throw new AdminRefusal('known_hosts_invalid', `no line of ${ignored} names a host and its key`)
  }
  const lookUpKeys = [...keysOf(hosts)].map((key) => lookUpKeyOfSsh(Buffer.from(key, 'base64')))
  await refuseManyRules(reader, lookUpKeys)
  const useKey = hashToken(randomBytes(32).toString('base64url'))
  return { method: 'ssh', useKey, lookUpKeys, hosts, ignored }
}

function keysOf(hosts: readonly KnownHost[], kind?: KnownHost['kind']): Set<string> {
  const of = hosts.filter((host) => kind === undefined || host.kind === kind)
  return new Set(of.map(({ key }) => key))
}

/** How many keys, not which: there may be thousands. */
export function toAdminKnownHosts({ hosts, ignored }: SshProof): AdminKnownHosts {
  const authorities = [...keysOf(hosts, 'authority')]
  return {
    keys: keysOf(hosts, 'key').size,
    authorities: authorities.map((key) => fingerprintOf(Buffer.from(key, 'base64'))),
    revoked: keysOf(hosts, 'revoked').size,
    ignored,
  }
}
