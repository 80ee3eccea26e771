// What lists are read from, as the port reads it.

import type { Cargo } from '../../domain/cargo.ts'
import type { NamedCertificateInUse } from '../../domain/fleet.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type {
  CertificatePage,
  CertificateSelection,
  EndPage,
  HostPage,
  ListReader,
  NameSearch,
  NamesFound,
  SourcePage,
} from '../list-store.ts'
import type { IssuedCertificate } from '../../domain/issued-certificate.ts'
import type { LateRule } from '../store.ts'
import { type CargoRow, toCargo } from './cargo-rows.ts'
import { type CertificateRow, toCertificate } from './certificate-rows.ts'
import {
  countAgents,
  searchNames,
  selectHostsByEnd,
  selectHostsByEnrolment,
  selectLateIds,
  selectRevokedIds,
} from './host-lists.ts'
import {
  countCertificatesInUse,
  selectCertificatesInUse,
  selectFirstOfAgents,
} from './certificates-in-use.ts'
import { SqliteOperatorReader } from './sqlite-operator-reader.ts'

export class SqliteListReader extends SqliteOperatorReader implements ListReader {
  async pageCertificatesInUse(page: CertificatePage): Promise<NamedCertificateInUse[] | undefined> {
    return selectCertificatesInUse(this.session(), page)
  }

  async listFirstOfAgents(agentIds: readonly AgentId[]): Promise<NamedCertificateInUse[]> {
    return selectFirstOfAgents(this.session(), agentIds)
  }

  async countCertificatesInUse(selection: CertificateSelection, limit: number): Promise<number> {
    return countCertificatesInUse(this.session(), selection, limit)
  }

  async listCargoesByPrefix(prefix: string, limit: number): Promise<Cargo[]> {
    const sql = `SELECT * FROM cargas INDEXED BY cargas_por_nome
      WHERE removed_at IS NULL AND nome >= ? AND nome < ? ORDER BY nome LIMIT ?`
    return this.session().all<CargoRow>(sql, prefix, endOf(prefix), limit).map(toCargo)
  }

  async listCertificatesBySerial(prefix: string, limit: number): Promise<IssuedCertificate[]> {
    const sql = `SELECT * FROM certificados INDEXED BY certificados_por_serial
      WHERE serial >= ? AND serial < ? ORDER BY serial LIMIT ?`
    return this.session().all<CertificateRow>(sql, prefix, endOf(prefix), limit).map(toCertificate)
  }

  async listSeqsOfRequest(requestId: string, limit: number): Promise<number[]> {
    const sql = 'SELECT seq FROM eventos WHERE request_id = ? ORDER BY seq LIMIT ?'
    return this.session()
      .all<{ seq: number }>(sql, requestId, limit)
      .map(({ seq }) => seq)
  }

  async searchNames(search: NameSearch): Promise<NamesFound> {
    return searchNames(this.session(), search)
  }

  async pageHostsByEnd(page: EndPage): Promise<HostPage | undefined> {
    return selectHostsByEnd(this.session(), page)
  }

  async pageHostsByEnrolment(page: SourcePage): Promise<HostPage | undefined> {
    return selectHostsByEnrolment(this.session(), page)
  }

  async listLateIds(rule: LateRule, limit: number): Promise<AgentId[]> {
    return selectLateIds(this.session(), rule, limit)
  }

  async listRevokedIds(limit: number): Promise<AgentId[]> {
    return selectRevokedIds(this.session(), limit)
  }

  async countAgents(): Promise<{ readonly live: number; readonly revoked: number }> {
    return countAgents(this.session())
  }
}

/** After all that begin so. */
function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`
}
