// What lists by name are read from: the hosts of a role in the order of their names, and cargas by name. A step of migrations.ts.

export const LISTS_BY_NAME = `
CREATE INDEX agentes_por_role_e_hostname ON agentes (role, hostname) WHERE removed_at IS NULL;
CREATE INDEX cargas_por_nome ON cargas (nome) WHERE removed_at IS NULL;
`
