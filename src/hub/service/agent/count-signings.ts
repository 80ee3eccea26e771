import type { CertificateAuthority } from '../../ca/certificate-authority.ts'
import type { WriteCompany } from '../../store/store.ts'

/** While the CA signs for others, what it has signed may wait for them: docs/protocol.md RES-15. */
export function countSignings(authority: CertificateAuthority): {
  readonly authority: CertificateAuthority
  readonly company: WriteCompany
} {
  let underWay = 0
  return {
    authority: {
      get rootPem() {
        return authority.rootPem
      },
      sign: async (request) => {
        underWay += 1
        try {
          return await authority.sign(request)
        } finally {
          underWay -= 1
        }
      },
      revoke: (serial, signal) => authority.revoke(serial, signal),
    },
    company: { isExpected: () => underWay > 0 },
  }
}
