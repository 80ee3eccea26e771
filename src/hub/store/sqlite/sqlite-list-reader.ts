// What lists are read from, as the port reads it.

import type { NamedCertificateInUse } from '../../domain/fleet.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type {
  CertificatePage,
  CertificateSelection,
  EndPage,
  HostsByEnd,
  ListReader,
  NameSearch,
  NamesFound,
} from '../list-store.ts'
import type { LateRule, Page } from '../store.ts'
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
import { SqlitePolicyReader } from './sqlite-policy-reader.ts'

export class SqliteListReader extends SqlitePolicyReader implements ListReader {
  async pageCertificatesInUse(page: CertificatePage): Promise<NamedCertificateInUse[] | undefined> {
    return selectCertificatesInUse(this.session(), page)
  }

  async listFirstOfAgents(agentIds: readonly AgentId[]): Promise<NamedCertificateInUse[]> {
    return selectFirstOfAgents(this.session(), agentIds)
  }

  async countCertificatesInUse(selection: CertificateSelection, limit: number): Promise<number> {
    return countCertificatesInUse(this.session(), selection, limit)
  }

  async searchNames(search: NameSearch): Promise<NamesFound> {
    return searchNames(this.session(), search)
  }

  async pageHostsByEnd(page: EndPage): Promise<HostsByEnd | undefined> {
    return selectHostsByEnd(this.session(), page)
  }

  async pageHostsByEnrolment(page: Page): Promise<Agent[] | undefined> {
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
