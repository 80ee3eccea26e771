// How far each endpoint has got, written now and then in one commit for all of them. What is not written when the hub
// dies is sent again under the same ids.

import type { WebhookId } from '../../protocol/identifiers.ts'
import type { WebhookProgress } from '../domain/webhook.ts'
import type { Store } from '../store/store.ts'

export interface ProgressKeeper {
  note(id: WebhookId, generation: number, progress: WebhookProgress): void
  /** Writes all that was noted; what cannot be written stays noted, and the failure is thrown. */
  flush(): Promise<void>
}

interface Note {
  readonly generation: number
  readonly progress: WebhookProgress
}

export function createProgressKeeper(store: Store): ProgressKeeper {
  const notes = new Map<WebhookId, Note>()
  return {
    note: (id, generation, progress) => {
      notes.set(id, { generation, progress })
    },
    flush: async () => {
      if (notes.size === 0) return
      const written = [...notes]
      await store.write(async (writer) => {
        for (const [id, { generation, progress }] of written) {
          // One that was removed or moved meanwhile has nothing to keep.
          await writer.webhooks.setProgress(id, generation, progress)
        }
      })
      for (const [id, note] of written) if (notes.get(id) === note) notes.delete(id)
    },
  }
}
