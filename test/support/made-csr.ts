// CSRs that cost a signature of P-256, for tests that need a good one and look at nothing but its names.

import { der, name } from './der-writer.ts'
import { createHostileCsr, requestOfExtensions, subjectAltName, toCsrPem } from './hostile-csr.ts'

const DNS_NAME = 0x82

/** With this CN, and with these DNS names if there are any. */
export function makeCsrPem(commonName: string, dnsNames: readonly string[] = []): string {
  const names = dnsNames.map((one) => der(DNS_NAME, Buffer.from(one)))
  const attributes = names.length === 0 ? [] : [requestOfExtensions(subjectAltName(...names))]
  return toCsrPem(createHostileCsr({ subject: name(commonName), attributes }))
}
