-- What several replicas share. Everything a replica commits is held to the epoch that it got with the lock of the world.
CREATE TABLE about (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE server (name text PRIMARY KEY, value bytea NOT NULL);
CREATE SEQUENCE bases;
CREATE TABLE parts (
    base bigint NOT NULL, number integer NOT NULL, content bytea NOT NULL, PRIMARY KEY (base, number)
);
-- `place` names the lock of a world; `owner` is the address of the replica that holds it; a world without `base` is one
-- that is being made, or has ended.
CREATE TABLE worlds (
    place integer GENERATED ALWAYS AS IDENTITY UNIQUE, id text PRIMARY KEY, number bigint NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0, owner text, base bigint, wake_at timestamptz,
    used_ms bigint NOT NULL DEFAULT 0, objects integer NOT NULL DEFAULT 0, journal_bytes bigint NOT NULL DEFAULT 0
);
CREATE INDEX ON worlds (wake_at) WHERE wake_at IS NOT NULL;
CREATE TABLE entries (
    world text NOT NULL, number bigint NOT NULL, content bytea NOT NULL, PRIMARY KEY (world, number)
);
ALTER TABLE entries ALTER COLUMN content SET STORAGE EXTERNAL;
ALTER TABLE parts ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE TABLE snapshots (
    place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text NOT NULL UNIQUE, world text NOT NULL,
    base bigint NOT NULL
);
CREATE INDEX ON snapshots (world);
-- By which key or token a call finds its world.
CREATE TABLE credentials (credential text PRIMARY KEY, world text NOT NULL);
CREATE INDEX ON credentials (world);

CREATE FUNCTION claim(
    wanted text, creates boolean, address text, OUT outcome text, OUT epoch bigint, OUT owner text, OUT is_there boolean
) LANGUAGE plpgsql AS $$
DECLARE found_place integer;
BEGIN
    LOOP
        SELECT worlds.place, worlds.owner INTO found_place, owner FROM worlds WHERE id = wanted;
        IF NOT FOUND THEN
            IF NOT creates THEN
                outcome := 'absent';
                RETURN;
            END IF;
            INSERT INTO worlds (id) VALUES (wanted) ON CONFLICT DO NOTHING;
            CONTINUE;
        END IF;
        IF NOT pg_try_advisory_lock(1918987632, found_place) THEN
            outcome := 'denied';
            RETURN;
        END IF;
        UPDATE worlds SET epoch = worlds.epoch + 1, owner = address WHERE id = wanted AND place = found_place
            RETURNING worlds.epoch, base IS NOT NULL INTO epoch, is_there;
        IF FOUND AND (is_there OR creates) THEN
            outcome := 'granted';
            RETURN;
        END IF;
        -- Whoever was making it has let it be.
        DELETE FROM worlds WHERE id = wanted AND place = found_place AND base IS NULL;
        PERFORM pg_advisory_unlock(1918987632, found_place);
    END LOOP;
END $$;

CREATE FUNCTION release(wanted text, held bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE found_place integer;
BEGIN
    UPDATE worlds SET owner = NULL WHERE id = wanted AND epoch = held RETURNING place INTO found_place;
    IF FOUND THEN
        DELETE FROM worlds WHERE id = wanted AND base IS NULL;
        PERFORM pg_advisory_unlock(1918987632, found_place);
    END IF;
END $$;

CREATE FUNCTION append(ids text[], epochs bigint[], numbers bigint[], contents bytea[], wakes timestamptz[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE met integer;
BEGIN
    UPDATE worlds SET number = given.number, wake_at = given.wake
        FROM unnest(ids, epochs, numbers, wakes) AS given (id, epoch, number, wake)
        WHERE worlds.id = given.id AND worlds.epoch = given.epoch AND worlds.number = given.number - 1;
    GET DIAGNOSTICS met = ROW_COUNT;
    IF met <> cardinality(ids) THEN
        RAISE EXCEPTION 'another replica owns a world that this one wrote' USING ERRCODE = 'RS001';
    END IF;
    INSERT INTO entries SELECT * FROM unnest(ids, numbers, contents);
    RETURN current_setting('rampsim.session', true);
END $$;
