// Two authorities as one: one for identities and the hub itself, another one for what is delivered. docs/protocol.md CAX-24.

import type { AuthorityClient } from './certificate-authority.ts'

export function splitAuthority(
  identities: AuthorityClient,
  deliveries: AuthorityClient,
): AuthorityClient {
  const choose = (isDelivered = false): AuthorityClient => (isDelivered ? deliveries : identities)
  const close = async (): Promise<void> => {
    await Promise.all([identities.close(), deliveries.close()])
  }
  return {
    get rootPem() {
      return identities.rootPem
    },
    useRoots(pem) {
      identities.useRoots(pem)
      deliveries.useRoots(pem)
    },
    whyNoLifetime: deliveries.whyNoLifetime,
    takesNamesOfCsr: deliveries.takesNamesOfCsr,
    sign: (request) => choose(request.isDelivered).sign(request),
    revoke: (serial, signal, isDelivered) =>
      choose(isDelivered).revoke(serial, signal, isDelivered),
    close,
    [Symbol.asyncDispose]: close,
  }
}
