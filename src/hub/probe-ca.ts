// What the hub's CA says without credentials, whichever kind it is. docs/protocol.md DOC-12.

import type { AuthorityFacts } from '../protocol/admin/examination.ts'
import type { ProvisionerKey } from './ca/provisioner-key.ts'
import type { CaSettings } from './ca-settings.ts'
import type { AuthorityPlace } from './facts/ask-authority.ts'
import { probeAuthority } from './facts/probe-authority.ts'
import { probeOpenBao } from './facts/probe-openbao.ts'
import { readTlsRoots } from './root-file.ts'

/** `key` is the public part of the provisioner's; undefined for who may not read it. */
export async function probeCa(
  ca: CaSettings,
  key: Pick<ProvisionerKey, 'x' | 'y'> | undefined,
  place: AuthorityPlace,
): Promise<AuthorityFacts> {
  if (ca.kind === 'step') {
    return probeAuthority({ ...place, kid: ca.provisionerKid, name: ca.provisionerName, key })
  }
  if (ca.tlsRootPath === undefined) return probeOpenBao(place)
  const roots = await readTlsRoots(ca.tlsRootPath)
  return probeOpenBao({ ...place, rootPem: roots.map(({ pem }) => pem).join('') })
}
