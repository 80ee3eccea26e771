// The part of the store's port that lists are read from: in an order that an index has, a page at a time.

import type { AgentId } from '../../protocol/identifiers.ts'
import type { NamedCertificateInUse } from '../domain/fleet.ts'
import type { CertificateState } from '../../protocol/admin/certificados.ts'
import type { LateRule, Page } from './store.ts'

export interface ListReader {
  /** The certificates in use, the first to end first; undefined when there never was one with the SHA-256 `after`. */
  pageCertificatesInUse(page: CertificatePage): Promise<NamedCertificateInUse[] | undefined>
  /** At most `limit` of them. */
  countCertificatesInUse(selection: CertificateSelection, limit: number): Promise<number>
}

/** All of the fields have to match. */
export interface CertificateSelection extends LateRule {
  readonly agentId?: AgentId | undefined
  readonly state?: CertificateState | undefined
  readonly endsBefore?: Date | undefined
}

export interface CertificatePage extends CertificateSelection, Page {}
