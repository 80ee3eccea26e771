// From a proposal and a delivery to what is recorded before anything is changed.

import { parseCertificatePem, subjectAltNamesOf } from '../../pki/certificates.ts'
import type { Material } from '../targets/render-content.ts'
import { invariant } from '../../platform/errors.ts'
import type { Adoption } from './adoption.ts'
import type { Proposal } from './proposal.ts'

export function adoptionOf(proposal: Proposal): Adoption {
  const { leaf, files, probes, renewers } = proposal
  invariant(leaf !== undefined, 'what has problems is not adopted')
  return {
    format: 1,
    id: proposal.id,
    nome: proposal.name,
    services: [...proposal.services],
    phase: 'taking',
    target_path: proposal.targetPath,
    target_text: proposal.targetText,
    places: files.map(({ path, sha256 }) => ({ path, sha256 })),
    applied: [],
    reload: [...proposal.reload],
    probes: probes.map(({ host, port, protocol, serverName = null }) => {
      return { host, port, protocol, server_name: serverName }
    }),
    former_serial: leaf.serial,
    former_not_after: leaf.notAfter.toISOString(),
    stops: renewers.flatMap(({ stop }) => stop ?? []),
  }
}

/** Clients know the service by the names that it shows now: a certificate without one of them is not waited for less. */
export function lackingNames(material: Material, { leaf, name }: Proposal): string | undefined {
  if (leaf === undefined || !('leafPem' in material)) return undefined
  const delivered = new Set(namesOf(subjectAltNamesOf(parseCertificatePem(material.leafPem))))
  const lacking = namesOf(subjectAltNamesOf(leaf)).filter((one) => !delivered.has(one))
  if (lacking.length === 0) return undefined
  return `the certificate that is delivered for ${name} lacks ${lacking.join(', ')}`
}

function namesOf(names: readonly string[]): string[] {
  return names.map((name) => name.toLowerCase())
}
