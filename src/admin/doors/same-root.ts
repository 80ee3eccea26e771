const CERTIFICATE = /-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----/g

/** Whether two PEM files hold the same certificates, however their lines break. */
export function isSameRoot(one: string | undefined, other: string | undefined): boolean {
  return certificatesOf(one) === certificatesOf(other)
}

function certificatesOf(pem = ''): string {
  const all = [...pem.matchAll(CERTIFICATE)].map(([, base64 = '']) => base64.replaceAll(/\s/g, ''))
  return all.sort().join(' ')
}
