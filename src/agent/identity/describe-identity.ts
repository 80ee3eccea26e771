// What `svc-agent identity` prints.

import type { Identity } from './identity.ts'

export interface IdentityDescription {
  readonly hostname: string
  readonly cert_cn: string
  readonly cert_serial: string
  readonly not_before: string
  readonly not_after: string
  readonly data_dir: string
}

export function describeIdentity(
  { hostname, leaf }: Identity,
  dataDir: string,
): IdentityDescription {
  return {
    hostname,
    cert_cn: leaf.commonName ?? '',
    cert_serial: leaf.serial,
    not_before: formatInstant(leaf.notBefore),
    not_after: formatInstant(leaf.notAfter),
    data_dir: dataDir,
  }
}

export function formatIdentity(description: IdentityDescription): string {
  return [
    'svc-agent identity',
    `hostname: ${description.hostname}`,
    `cert CN: ${description.cert_cn}`,
    `cert serial: ${description.cert_serial}`,
    `not_before: ${description.not_before}`,
    `not_after: ${description.not_after}`,
    `data_dir: ${description.data_dir}`,
  ].join('\n')
}

/** RFC 3339, UTC, whole seconds: certificates have no finer ones. */
export function formatInstant(instant: Date): string {
  return `${instant.toISOString().slice(0, 19)}Z`
}
