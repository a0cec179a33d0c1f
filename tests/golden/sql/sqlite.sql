-- Ledger, db.copying.copy
CREATE TABLE campaign ( id INTEGER NOT NULL, name VARCHAR(200) NOT NULL, problem TEXT NOT NULL, method
    VARCHAR(40) NOT NULL, depth INTEGER NOT NULL, tasks INTEGER NOT NULL, work FLOAT NOT NULL, created FLOAT NOT
    NULL, PRIMARY KEY (id), UNIQUE (name) );

-- Ledger, db.copying.copy
CREATE TABLE task ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, work FLOAT NOT NULL, state
    VARCHAR(12) NOT NULL, failures INTEGER NOT NULL, PRIMARY KEY (campaign_id, task_index), FOREIGN
    KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy
CREATE INDEX task_queue ON task (campaign_id, state, work);

-- Ledger, db.copying.copy
CREATE TABLE worker ( id VARCHAR(36) NOT NULL, host VARCHAR(255) NOT NULL, process VARCHAR(80) NOT NULL, started
    FLOAT NOT NULL, PRIMARY KEY (id) );

-- Ledger, db.copying.copy
CREATE TABLE attempt ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, worker_id
    VARCHAR(36) NOT NULL, granted FLOAT NOT NULL, deadline FLOAT NOT NULL, ended FLOAT, outcome VARCHAR(12),
    note TEXT, PRIMARY KEY (id), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id, task_index),
    FOREIGN KEY(worker_id) REFERENCES worker (id) );

-- Ledger, db.copying.copy
CREATE INDEX attempt_open ON attempt (ended, deadline);

-- Ledger, db.copying.copy
CREATE INDEX attempt_task ON attempt (campaign_id, task_index);

-- Ledger, db.copying.copy
CREATE TABLE result ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER NOT NULL,
    value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds FLOAT NOT NULL, provenance TEXT
    NOT NULL, accepted FLOAT NOT NULL, PRIMARY KEY (campaign_id, task_index), FOREIGN KEY(campaign_id,
    task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE TABLE event ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER, attempt_id INTEGER,
    at FLOAT NOT NULL, kind VARCHAR(12) NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (id), FOREIGN
    KEY(campaign_id) REFERENCES campaign (id) );

-- Ledger, db.copying.copy
CREATE TABLE token ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, role VARCHAR(10) NOT NULL, digest
    VARCHAR(64) NOT NULL, created FLOAT NOT NULL, PRIMARY KEY (id), FOREIGN KEY(campaign_id) REFERENCES campaign
    (id), UNIQUE (digest) );

-- Ledger, db.copying.copy
ALTER TABLE campaign ADD COLUMN replicate FLOAT DEFAULT '0' NOT NULL;

-- Ledger, db.copying.copy
ALTER TABLE worker ADD COLUMN kernel VARCHAR(10) DEFAULT 'cpu' NOT NULL;

-- Ledger, db.copying.copy
ALTER TABLE worker ADD COLUMN distrusted FLOAT;

-- Ledger, db.copying.copy
CREATE INDEX attempt_worker ON attempt (worker_id);

-- Ledger, db.copying.copy
CREATE TABLE recheck ( campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL, attempt_id INTEGER, PRIMARY
    KEY (campaign_id, task_index), FOREIGN KEY(campaign_id, task_index) REFERENCES task (campaign_id,
    task_index), FOREIGN KEY(attempt_id) REFERENCES attempt (id) );

-- Ledger, db.copying.copy
CREATE TABLE witness ( id INTEGER NOT NULL, campaign_id INTEGER NOT NULL, task_index INTEGER NOT NULL,
    attempt_id INTEGER NOT NULL, value TEXT NOT NULL, residue TEXT NOT NULL, evaluated TEXT NOT NULL, seconds
    FLOAT NOT NULL, provenance TEXT NOT NULL, accepted FLOAT NOT NULL, PRIMARY KEY (id), FOREIGN
    KEY(campaign_id, task_index) REFERENCES task (campaign_id, task_index), FOREIGN KEY(attempt_id) REFERENCES
    attempt (id) );

-- Ledger, db.copying.copy
CREATE INDEX witness_task ON witness (campaign_id, task_index);

-- Ledger, db.copying.copy
DROP INDEX attempt_open;

-- Ledger, db.copying.copy
CREATE INDEX attempt_open ON attempt (deadline)
WHERE ended IS NULL;

-- Ledger, db.copying.copy
ALTER TABLE campaign RENAME COLUMN replicate TO recheck_share;

-- Ledger, db.copying.copy
ALTER TABLE worker RENAME COLUMN kernel TO device_kind;

-- Ledger, db.copying.copy
CREATE TABLE ledger ( uuid VARCHAR(36) NOT NULL, created FLOAT NOT NULL, PRIMARY KEY (uuid) );

-- Ledger, db.copying.copy
INSERT INTO ledger (uuid, created)
VALUES (?, ?);

-- Ledger, db.copying.copy
ALTER TABLE campaign ADD COLUMN uuid VARCHAR(36) DEFAULT '' NOT NULL;

-- Ledger, db.copying.copy
SELECT id
FROM campaign;

-- Ledger, db.copying.copy
ALTER TABLE attempt ADD COLUMN nonce VARCHAR(64);

-- Ledger, db.copying.copy
ALTER TABLE worker ADD COLUMN kernels VARCHAR(64);

-- Ledger, db.copying.copy
DROP INDEX attempt_worker;

-- Ledger, db.copying.copy
CREATE INDEX attempt_worker ON attempt (worker_id, ended);

-- Ledger, db.copying.copy
ALTER TABLE token ADD COLUMN expires FLOAT;

-- Ledger, db.copying.copy
ALTER TABLE token ADD COLUMN label VARCHAR(100) DEFAULT '' NOT NULL;

-- Ledger, db.copying.copy, Database
ALTER TABLE campaign ADD COLUMN seed INTEGER DEFAULT '0' NOT NULL;

-- Ledger.uuid
SELECT ledger.uuid
FROM ledger;

-- Ledger.create_campaign, Ledger.campaign, Ledger.take
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share
FROM campaign
WHERE campaign.name = ?;

-- Ledger.create_campaign
INSERT INTO campaign (uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ?)
RETURNING id;

-- Ledger.create_campaign
INSERT INTO task (task_index, work, campaign_id, state, failures) SELECT json_extract(anon_1.value, ?) AS
    json_extract_1, json_extract(anon_1.value, ?) AS json_extract_3, ? AS anon_2, ? AS anon_3, ? AS anon_4
FROM json_each(?) AS anon_1
WHERE 1 = 1;

-- Ledger.create_campaign, Campaign.fail, Campaign.deliver, Ledger.take
INSERT INTO event (campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ?, ?);

-- Ledger.campaigns, db.copying.copy
SELECT campaign.id, campaign.uuid, campaign.name, campaign.problem, campaign.method, campaign.depth,
    campaign.seed, campaign.tasks, campaign.work, campaign.created, campaign.recheck_share
FROM campaign
ORDER BY campaign.id;

-- Ledger.enrol, Ledger.take
SELECT worker.id
FROM worker
WHERE worker.id = ?;

-- Ledger.enrol, Ledger.take
INSERT INTO worker (id, host, process, started, device_kind, kernels)
VALUES (?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ?, ?);

-- Campaign.lease
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE attempt.deadline < ((julianday('now') - 2440587.5) * 86400.0)
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index;

-- Campaign.lease
SELECT worker.device_kind, worker.distrusted, EXISTS (SELECT recheck.task_index
FROM recheck
WHERE recheck.campaign_id = ?) AS waiting
FROM worker
WHERE worker.id = ?;

-- Campaign.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline) SELECT task.campaign_id,
    task.task_index, ? AS anon_1, ? AS anon_2, ((julianday('now') - 2440587.5) * 86400.0) AS anon_3,
    ((julianday('now') - 2440587.5) * 86400.0) + ? AS anon_4
FROM task
WHERE task.campaign_id = ?
AND task.state = ?
ORDER BY task.work DESC
LIMIT ? OFFSET ?
RETURNING task_index, id;

-- Campaign.lease
UPDATE task
SET state=?
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)))
RETURNING task_index, work;

-- Campaign.lease, Campaign.release, Campaign.release_worker, Campaign.fail, Campaign.deliver, Ledger.take
UPDATE recheck
SET attempt_id=?
WHERE (recheck.attempt_id IN (SELECT value
FROM json_each(?)));

-- Campaign.lease, Campaign.release, Campaign.release_worker, Campaign.fail, Campaign.deliver, Ledger.take
UPDATE task
SET state=?
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)))
AND task.state = ?;

-- Campaign.lease
SELECT attempt.id, attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = ?
AND attempt.ended IS NULL;

-- Campaign.lease, Campaign.release, Campaign.fail, Campaign.deliver, Ledger.take
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE (attempt.id IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index;

-- Campaign.renew, Campaign.release, Campaign.fail
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce
FROM attempt
WHERE (attempt.id IN (SELECT value
FROM json_each(?)));

-- Campaign.renew
UPDATE attempt
SET deadline=(((julianday('now') - 2440587.5) * 86400.0) + ?)
WHERE (attempt.id IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL;

-- Campaign.renew
SELECT attempt.id
FROM attempt
WHERE (attempt.id IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL;

-- Campaign.lease_holders
SELECT worker.id, worker.host, worker.process
FROM worker
WHERE worker.id IN (SELECT DISTINCT attempt.worker_id
FROM attempt
WHERE attempt.campaign_id = ?
AND attempt.ended IS NULL);

-- Campaign.release_worker, Campaign.deliver
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?, note=coalesce(?, attempt.note)
WHERE attempt.worker_id = ?
AND attempt.ended IS NULL
RETURNING id, campaign_id, task_index;

-- Campaign.fail, Campaign.deliver
UPDATE task
SET failures=(task.failures + ?)
WHERE task.campaign_id = ?
AND task.task_index = ?;

-- Campaign.fail, Campaign.deliver
SELECT task.failures
FROM task
WHERE task.campaign_id = ?
AND task.task_index = ?;

-- Campaign.fail, Campaign.deliver, Ledger.take
DELETE
FROM recheck
WHERE recheck.campaign_id = ?
AND recheck.task_index = ?;

-- Campaign.reopen
UPDATE task
SET state=?, failures=?
WHERE task.campaign_id = ?
AND task.state = ?;

-- Campaign.set_recheck_share
UPDATE campaign
SET recheck_share=?
WHERE campaign.id = ?;

-- Campaign.deliver, Ledger.take
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.nonce, attempt.worker_id, worker.distrusted,
    result.value, result.attempt_id AS "by"
FROM attempt
JOIN worker ON worker.id = attempt.worker_id
LEFT OUTER JOIN result ON result.campaign_id = attempt.campaign_id
AND result.task_index = attempt.task_index
WHERE (attempt.id IN (SELECT value
FROM json_each(?)));

-- Campaign.deliver
INSERT INTO result (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted) SELECT json_extract(anon_1.value, ?) AS json_extract_1, json_extract(anon_1.value, ?) AS
    json_extract_3, json_extract(anon_1.value, ?) AS json_extract_5, json_extract(anon_1.value, ?) AS
    json_extract_7, json_extract(anon_1.value, ?) AS json_extract_9, json_extract(anon_1.value, ?) AS
    json_extract_11, json_extract(anon_1.value, ?) AS json_extract_13, json_extract(anon_1.value, ?) AS
    json_extract_15, ((julianday('now') - 2440587.5) * 86400.0) AS anon_2
FROM json_each(?) AS anon_1
WHERE 1 = 1
ON CONFLICT DO NOTHING
RETURNING task_index;

-- Campaign.deliver
SELECT attempt.id
FROM attempt
WHERE attempt.campaign_id = ?
AND attempt.worker_id = ?
AND attempt.outcome = ?
LIMIT ? OFFSET ?;

-- Campaign.deliver
UPDATE attempt
SET ended=((julianday('now') - 2440587.5) * 86400.0), outcome=?
WHERE (attempt.id IN (SELECT value
FROM json_each(?)))
AND attempt.ended IS NULL;

-- Campaign.deliver
UPDATE task
SET state=?
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)));

-- Campaign.deliver
INSERT INTO recheck (campaign_id, task_index)
VALUES (?, ?)
ON CONFLICT DO NOTHING;

-- Campaign.lease
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline) SELECT recheck.campaign_id,
    recheck.task_index, ? AS anon_1, ? AS anon_2, ((julianday('now') - 2440587.5) * 86400.0) AS anon_3,
    ((julianday('now') - 2440587.5) * 86400.0) + ? AS anon_4
FROM recheck
JOIN result ON result.campaign_id = recheck.campaign_id
AND result.task_index = recheck.task_index
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
WHERE recheck.campaign_id = ?
AND recheck.attempt_id IS NULL
AND attempt.worker_id != ?
AND NOT (EXISTS (SELECT witness.id
FROM witness
JOIN attempt ON attempt.id = witness.attempt_id
WHERE witness.campaign_id = recheck.campaign_id
AND witness.task_index = recheck.task_index
AND attempt.worker_id = ?))
ORDER BY worker.device_kind = ?, recheck.task_index
LIMIT ? OFFSET ?
RETURNING task_index, id;

-- Campaign.lease
UPDATE recheck
SET attempt_id=?
WHERE recheck.campaign_id = ?
AND recheck.task_index = ?;

-- Campaign.lease
SELECT task.task_index, task.work
FROM task
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)));

-- Campaign.deliver, Ledger.take
SELECT witness.attempt_id, witness.value
FROM witness
WHERE (witness.attempt_id IN (SELECT value
FROM json_each(?)));

-- Campaign.deliver, Ledger.take
INSERT INTO witness (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0));

-- Campaign.deliver, Ledger.take
SELECT task.task_index
FROM task
WHERE task.campaign_id = ?
AND (task.task_index IN (SELECT value
FROM json_each(?)))
ORDER BY task.task_index;

-- Campaign.deliver, Ledger.take
SELECT result.campaign_id, result.task_index, result.attempt_id, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance, result.accepted, attempt.worker_id, worker.distrusted
FROM result
JOIN attempt ON attempt.id = result.attempt_id
JOIN worker ON worker.id = attempt.worker_id
WHERE result.campaign_id = ?
AND result.task_index = ?
ORDER BY result.accepted;

-- Campaign.deliver, Ledger.take
SELECT witness.id, witness.campaign_id, witness.task_index, witness.attempt_id, witness.value, witness.residue,
    witness.evaluated, witness.seconds, witness.provenance, witness.accepted, attempt.worker_id,
    worker.distrusted
FROM witness
JOIN attempt ON attempt.id = witness.attempt_id
JOIN worker ON worker.id = attempt.worker_id
WHERE witness.campaign_id = ?
AND witness.task_index = ?
ORDER BY witness.accepted;

-- Campaign.results, Campaign.progress
SELECT event.task_index, event.kind, event.detail
FROM event
WHERE event.campaign_id = ?
AND event.kind IN (?, ?)
ORDER BY event.id;

-- Campaign.deliver
SELECT result.attempt_id, result.value, result.residue, result.evaluated, result.seconds, result.provenance,
    result.accepted
FROM result
WHERE result.campaign_id = ?
AND result.task_index = ?;

-- Campaign.deliver
SELECT witness.attempt_id, witness.value, witness.residue, witness.evaluated, witness.seconds,
    witness.provenance, witness.accepted
FROM witness
WHERE witness.id = ?;

-- Campaign.deliver
UPDATE result
SET attempt_id=?, value=?, residue=?, evaluated=?, seconds=?, provenance=?, accepted=?
WHERE result.campaign_id = ?
AND result.task_index = ?;

-- Campaign.deliver
UPDATE witness
SET attempt_id=?, value=?, residue=?, evaluated=?, seconds=?, provenance=?, accepted=?
WHERE witness.id = ?;

-- Campaign.deliver
UPDATE worker
SET distrusted=((julianday('now') - 2440587.5) * 86400.0)
WHERE worker.id = ?;

-- Campaign.deliver
SELECT DISTINCT attempt.campaign_id
FROM attempt
WHERE attempt.worker_id = ?;

-- Campaign.deliver
SELECT result.task_index
FROM result
JOIN attempt AS attempt_1 ON attempt_1.id = result.attempt_id
JOIN worker ON worker.id = attempt_1.worker_id
WHERE result.campaign_id = ?
AND worker.distrusted IS NOT NULL
AND NOT (EXISTS (SELECT witness.id
FROM witness
JOIN attempt AS attempt_2 ON attempt_2.id = witness.attempt_id
JOIN worker AS worker_1 ON worker_1.id = attempt_2.worker_id
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.value = result.value
AND worker_1.distrusted IS NULL))
AND worker.id = ?
ORDER BY result.task_index;

-- Campaign.results
SELECT result.task_index
FROM result
JOIN attempt AS attempt_1 ON attempt_1.id = result.attempt_id
JOIN worker ON worker.id = attempt_1.worker_id
WHERE result.campaign_id = ?
AND worker.distrusted IS NOT NULL
AND NOT (EXISTS (SELECT witness.id
FROM witness
JOIN attempt AS attempt_2 ON attempt_2.id = witness.attempt_id
JOIN worker AS worker_1 ON worker_1.id = attempt_2.worker_id
WHERE witness.campaign_id = result.campaign_id
AND witness.task_index = result.task_index
AND witness.value = result.value
AND worker_1.distrusted IS NULL))
ORDER BY result.task_index;

-- Campaign.export, Ledger.take
SELECT result.task_index, result.value, result.residue, result.evaluated, result.seconds, result.provenance
FROM result
WHERE result.campaign_id = ?
ORDER BY result.task_index;

-- Campaign.results
SELECT result.task_index, result.value, result.residue, result.evaluated
FROM result
WHERE result.campaign_id = ?
ORDER BY result.task_index;

-- Ledger.take
SELECT attempt.task_index, attempt.note
FROM attempt
WHERE attempt.campaign_id = ?
AND (attempt.note LIKE ? || '%');

-- Ledger.take
INSERT INTO attempt (campaign_id, task_index, worker_id, nonce, granted, deadline, note)
VALUES (?, ?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), ((julianday('now') - 2440587.5) * 86400.0), ?)
RETURNING id;

-- Campaign.new_token
INSERT INTO token (campaign_id, role, digest, created, expires, label)
VALUES (?, ?, ?, ((julianday('now') - 2440587.5) * 86400.0), (((julianday('now') - 2440587.5) * 86400.0) + ?),
    ?);

-- Campaign.tokens
SELECT token.id, token.role, token.label, token.created, token.expires
FROM token
WHERE token.campaign_id = ?
ORDER BY token.id;

-- Campaign.revoke_token
DELETE
FROM token
WHERE token.campaign_id = ?
AND token.id = ?;

-- Campaign.role_of
SELECT token.digest, token.role
FROM token
WHERE token.campaign_id = ?
AND (token.expires IS NULL OR token.expires > ((julianday('now') - 2440587.5) * 86400.0));

-- Campaign.revoke_tokens
DELETE
FROM token
WHERE token.campaign_id = ?;

-- Campaign.progress, Campaign.standing
SELECT task.state, count(*) AS count_1, sum(task.work) AS sum_1
FROM task
WHERE task.campaign_id = ?
AND task.state IN (?, ?, ?)
GROUP BY task.state;

-- Campaign.progress
SELECT coalesce(attempt.outcome, ?) AS coalesce_1, count(*) AS count_1
FROM attempt
WHERE attempt.campaign_id = ?
GROUP BY attempt.outcome;

-- Campaign.progress
SELECT count(*) AS count_1
FROM event
WHERE event.campaign_id = ?
AND event.kind = ?;

-- Campaign.progress
SELECT result.seconds, result.evaluated
FROM result
WHERE result.campaign_id = ?;

-- Campaign.progress
SELECT count(*) AS count_1
FROM recheck
WHERE recheck.campaign_id = ?;

-- Campaign.rechecks
SELECT count(*) AS count_1
FROM recheck
WHERE recheck.campaign_id = ?
AND recheck.attempt_id IS NULL;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = ?
ORDER BY task.task_index;

-- Campaign.task_records
SELECT task.task_index, task.state, task.work, task.failures, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance
FROM task
LEFT OUTER JOIN result ON result.campaign_id = task.campaign_id
AND result.task_index = task.task_index
WHERE task.campaign_id = ?
AND task.state = ?
ORDER BY task.task_index;

-- db.copying.copy
SELECT count(*) AS count_1
FROM attempt
WHERE attempt.ended IS NULL;

-- db.copying.copy
SELECT count(*) AS count_1
FROM campaign;

-- db.copying.copy
DELETE
FROM ledger;

-- db.copying.copy
INSERT INTO campaign (id, uuid, name, problem, method, depth, seed, tasks, work, created, recheck_share)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT ledger.uuid, ledger.created
FROM ledger
ORDER BY ledger.uuid;

-- db.copying.copy
SELECT worker.id, worker.host, worker.process, worker.started, worker.device_kind, worker.kernels,
    worker.distrusted
FROM worker
ORDER BY worker.id;

-- db.copying.copy
INSERT INTO worker (id, host, process, started, device_kind, kernels, distrusted)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT event.id, event.campaign_id, event.task_index, event.attempt_id, event.at, event.kind, event.detail
FROM event
ORDER BY event.id;

-- db.copying.copy
INSERT INTO event (id, campaign_id, task_index, attempt_id, at, kind, detail)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT task.campaign_id, task.task_index, task.work, task.state, task.failures
FROM task
ORDER BY task.campaign_id, task.task_index;

-- db.copying.copy
INSERT INTO task (campaign_id, task_index, work, state, failures)
VALUES (?, ?, ?, ?, ?);

-- db.copying.copy
SELECT token.id, token.campaign_id, token.role, token.digest, token.created, token.expires, token.label
FROM token
ORDER BY token.id;

-- db.copying.copy
INSERT INTO token (id, campaign_id, role, digest, created, expires, label)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT attempt.id, attempt.campaign_id, attempt.task_index, attempt.worker_id, attempt.nonce, attempt.granted,
    attempt.deadline, attempt.ended, attempt.outcome, attempt.note
FROM attempt
ORDER BY attempt.id;

-- db.copying.copy
INSERT INTO attempt (id, campaign_id, task_index, worker_id, nonce, granted, deadline, ended, outcome, note)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT recheck.campaign_id, recheck.task_index, recheck.attempt_id
FROM recheck
ORDER BY recheck.campaign_id, recheck.task_index;

-- db.copying.copy
INSERT INTO recheck (campaign_id, task_index, attempt_id)
VALUES (?, ?, ?);

-- db.copying.copy
SELECT result.campaign_id, result.task_index, result.attempt_id, result.value, result.residue, result.evaluated,
    result.seconds, result.provenance, result.accepted
FROM result
ORDER BY result.campaign_id, result.task_index;

-- db.copying.copy
INSERT INTO result (campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- db.copying.copy
SELECT witness.id, witness.campaign_id, witness.task_index, witness.attempt_id, witness.value, witness.residue,
    witness.evaluated, witness.seconds, witness.provenance, witness.accepted
FROM witness
ORDER BY witness.id;

-- db.copying.copy
INSERT INTO witness (id, campaign_id, task_index, attempt_id, value, residue, evaluated, seconds, provenance,
    accepted)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
