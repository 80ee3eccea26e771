// Over the admin socket; it may be cut, and then nobody knows.

import { SvcError } from '../../../src/platform/errors.ts'
import type { AdminOperations } from '../../../src/protocol/admin/operations.ts'
import type { ContractModel } from './contract-model.ts'
import type { HubInPlace } from './faulty-network.ts'
import type { Kernel } from './kernel.ts'
import { followWhileAlive } from './watch-hub.ts'

export interface AdminSocketOptions {
  readonly kernel: Kernel
  readonly model: ContractModel
  readonly findHub: () => HubInPlace | undefined
  readonly note: (text: string) => void
}

export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly code: string | undefined }

export type AskHub = <Value>(
  what: string,
  operation: (admin: AdminOperations) => Promise<Value>,
) => Promise<Answer<Value>>

export function connectAdminSocket({ kernel, model, findHub, note }: AdminSocketOptions): AskHub {
  return (what, operation) =>
    new Promise((resolve) => {
      const place = findHub()
      if (place === undefined) {
        resolve({ ok: false, code: undefined })
        return
      }
      const { program, hub } = place
      program.onDeath(() => resolve({ ok: false, code: undefined }))
      const work = async (): Promise<void> => {
        const value = await operation(hub.admin)
        await followWhileAlive(hub.store, program, model)
        await program.step(() => undefined)
        note(`${what}: ok`)
        resolve({ ok: true, value })
      }
      program.post(() => {
        program.run(work).catch((error: unknown) => {
          const code = error instanceof SvcError ? error.code : undefined
          if (program.isAlive && code === undefined) kernel.fail(error)
          note(`${what}: ${code}`)
          resolve({ ok: false, code })
        })
      })
    })
}
