/** How many entregas one write takes: an act on more of them is done in several. docs/protocol.md FLT-1. */
export const SLICE_DELIVERIES = 250
