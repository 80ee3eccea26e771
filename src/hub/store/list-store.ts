// The part of the store's port that lists are read from: in an order that an index has, a page at a time.

import type { AgentId } from '../../protocol/identifiers.ts'
import type { Agent } from '../domain/agent.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { NamedCertificateInUse } from '../domain/fleet.ts'
import type { CertificateState } from '../../protocol/admin/certificados.ts'
import type { HostSource } from '../domain/host-source.ts'
import type { IssuedCertificate } from '../domain/issued-certificate.ts'
import type { LateRule, Page } from './store.ts'

export interface ListReader {
  /** The certificates in use, the first to end first; undefined when there never was one with the SHA-256 `after`. */
  pageCertificatesInUse(page: CertificatePage): Promise<NamedCertificateInUse[] | undefined>
  /** Of each of these agents the certificate in use that ends first. */
  listFirstOfAgents(agentIds: readonly AgentId[]): Promise<NamedCertificateInUse[]>
  /** At most `limit` of them. */
  countCertificatesInUse(selection: CertificateSelection, limit: number): Promise<number>

  /** At most `limit` that are not removed and whose names begin so, by name. */
  listCargoesByPrefix(prefix: string, limit: number): Promise<Cargo[]>
  /** At most `limit` that were ever issued and whose serials begin so, by serial. */
  listCertificatesBySerial(prefix: string, limit: number): Promise<IssuedCertificate[]>
  /** At most `limit` entries that agents sent under this `request_id`. */
  listSeqsOfRequest(requestId: string, limit: number): Promise<number[]>

  /** The hostnames that have a text in them, among the next ones of a source. */
  searchNames(search: NameSearch): Promise<NamesFound>
  /** Hosts by the first end of their certificates in use; undefined when there never was one with the SHA-256 `after`. */
  pageHostsByEnd(page: EndPage): Promise<HostPage | undefined>
  /** The host that enrolled last comes first; undefined when there never was an agent with the id `after`. */
  pageHostsByEnrolment(page: SourcePage): Promise<HostPage | undefined>
  /** At most `limit` agents with a certificate that is late or expired, in no order. */
  listLateIds(rule: LateRule, limit: number): Promise<AgentId[]>
  /** At most `limit` that are revoked and not removed, in no order. */
  listRevokedIds(limit: number): Promise<AgentId[]>
  /** Without the removed ones. */
  countAgents(): Promise<{ readonly live: number; readonly revoked: number }>
}

export interface NameSearch {
  readonly source: HostSource
  readonly text: string
  /** The hostname that it starts after. */
  readonly after?: string | undefined
  /** At so many names it looks. */
  readonly looked: number
  /** Only counts. */
  readonly isCounted?: boolean
}

export interface NamesFound {
  /** By hostname. */
  readonly hostnames: readonly string[]
  readonly count: number
  /** The last one that it has looked at; null at the end. */
  readonly last: string | null
}

/** The hosts of a source, among the next `limit` of all. */
export interface SourcePage extends Page {
  readonly source: HostSource
}

export interface EndPage extends SourcePage {
  /** Only hosts of which a certificate ends by then. */
  readonly until?: Date | undefined
}

export interface HostPage {
  /** `place` is the `after` of what follows the host: by the first end the SHA-256 of its certificate, else its id. */
  readonly hosts: readonly { readonly agent: Agent; readonly place: string }[]
  /** The place after all that were looked at; null at the end. */
  readonly last: string | null
}

/** All of the fields have to match. */
export interface CertificateSelection extends LateRule {
  readonly agentId?: AgentId | undefined
  readonly state?: CertificateState | undefined
  readonly endsBefore?: Date | undefined
}

export interface CertificatePage extends CertificateSelection, Page {}
