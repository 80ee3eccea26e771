import type { RegisterCommand } from '../command-context.ts'
import { listCommand } from '../list-command.ts'

export const registerFleetOwners: RegisterCommand = listCommand({
  name: 'owners',
  description: 'list which manager owns which object and which field, oldest first',
  about:
    'A row without a field is the object itself: its manager removes it with svc apply --prune when its files no longer name it.',
  plural: 'owners',
  ask: (operations, page) => operations.listOwnedFields(page),
  nameOf: ({ name }) => name,
  columns: {
    kind: ({ kind }) => kind,
    name: ({ name }) => name,
    field: ({ field }) => field,
    manager: ({ manager }) => manager,
  },
})
