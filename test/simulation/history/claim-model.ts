// What docs/protocol.md HUB-9 promises of several hubs: of the uses of one token one at a time goes to the CA.

import { hash } from 'node:crypto'
import type { RootedAuthority } from '../../../src/hub/ca/certificate-authority.ts'
import { decodePem } from '../../../src/pki/pem.ts'
import { demand } from './demand.ts'
import type { Kernel, Program } from './kernel.ts'

interface Asking {
  readonly program: Program
  /** Not later than the hub noted that it would ask. */
  readonly sinceMs: number
}

/** Less than the 15 seconds after which another hub takes a token over: the clocks of hubs are not the same. */
const CLAIM_MS = 10_000

export class ClaimModel {
  readonly #kernel: Kernel
  /** By the CSR that came with it. */
  readonly #tokens = new Map<string, { readonly tokenId: string; readonly sinceMs: number }>()
  readonly #asking = new Map<string, Set<Asking>>()

  constructor(kernel: Kernel) {
    this.#kernel = kernel
  }

  /** A hub is asked to enrol somebody. */
  noteEnrolment(tokenId: string, csrPem: string, program: Program): void {
    const der = decodePem(csrPem, 'certificateRequest')
    if (der === undefined) return
    const sinceMs = this.#kernel.now().getTime()
    this.#tokens.set(keyOf(program, hash('sha256', der)), { tokenId, sinceMs })
  }

  watch(authority: RootedAuthority, program: Program): RootedAuthority {
    return {
      get rootPem() {
        return authority.rootPem
      },
      useRoots: (pem) => authority.useRoots(pem),
      revoke: (serial, signal) => authority.revoke(serial, signal),
      sign: async (request) => {
        const use = this.#tokens.get(keyOf(program, request.csr.sha256))
        if (use === undefined) return authority.sign(request)
        const { tokenId, sinceMs } = use
        this.#kernel.look(() => this.#demandAlone(tokenId, program))
        const asking = { program, sinceMs }
        const all = this.#asking.get(tokenId) ?? new Set()
        this.#asking.set(tokenId, all.add(asking))
        try {
          return await authority.sign(request)
        } finally {
          all.delete(asking)
        }
      },
    }
  }

  #demandAlone(tokenId: string, program: Program): void {
    const nowMs = this.#kernel.now().getTime()
    for (const other of this.#asking.get(tokenId) ?? []) {
      const isOver = other.program === program || !other.program.isAlive
      demand(
        isOver || nowMs - other.sinceMs > CLAIM_MS,
        '[HUB-9] two hubs ask the CA for one token:',
        `${other.program.name} and ${program.name}, ${tokenId}`,
      )
    }
  }
}

function keyOf({ name }: Program, csrSha256: string): string {
  return `${name} ${csrSha256}`
}
