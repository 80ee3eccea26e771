/** On the hub's socket alone, beside the admin operations: its answer is a stream of bytes, not JSON. docs/protocol.md BKP-6. */
export const BACKUP_ROUTE = { method: 'POST', path: '/v1/admin/backup' } as const
