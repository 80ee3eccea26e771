// All rows, in the order of the table.

import type { ReliabilityRow } from './row.ts'

export const ROWS: readonly ReliabilityRow[] = []
