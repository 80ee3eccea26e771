// What lists are read from, as the port reads it.

import type { NamedCertificateInUse } from '../../domain/fleet.ts'
import type { CertificatePage, CertificateSelection, ListReader } from '../list-store.ts'
import { countCertificatesInUse, selectCertificatesInUse } from './certificates-in-use.ts'
import { SqlitePolicyReader } from './sqlite-policy-reader.ts'

export class SqliteListReader extends SqlitePolicyReader implements ListReader {
  async pageCertificatesInUse(page: CertificatePage): Promise<NamedCertificateInUse[] | undefined> {
    return selectCertificatesInUse(this.session(), page)
  }

  async countCertificatesInUse(selection: CertificateSelection, limit: number): Promise<number> {
    return countCertificatesInUse(this.session(), selection, limit)
  }
}
