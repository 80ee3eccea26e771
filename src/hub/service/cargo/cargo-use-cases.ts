import { removeCargo, updateCargo } from './change-cargo.ts'
import { cancelDelivery } from './change-delivery.ts'
import { pruneCargo, selectCargo, showSelection } from './change-selection.ts'
import { createCargo } from './create-cargo.ts'
import { listRecipients, readContent } from './list-recipients.ts'
import { pushToAgent } from './push-to-agent.ts'
import { retryDeliveries } from './retry-deliveries.ts'

/** The operations on cargas and entregas, by their names. */
export const CARGO_USE_CASES = {
  createCargo,
  updateCargo,
  removeCargo,
  selectCargo,
  showSelection,
  pruneCargo,
  listRecipients,
  readContent,
  pushToAgent,
  cancelDelivery,
  retryDeliveries,
}
