(ns crm
  "Customers."
  {:visibility :prompt})

(def page-size "Rows of one page." 50)

(defn- clean-id
  "An id as the server wants it."
  [raw]
  (str/trim (str raw)))

(defn get-user
  "Return a CRM user by id."
  [id]
  (tool/call {:server "crm" :tool "get_user" :args {:id (clean-id id)}}))

(defn get-user!
  "Return a CRM user, or abort the program."
  [id]
  (let [res (get-user id)]
    (if (:ok res) (:value res) (fail {:reason (:reason res)}))))

(defn list-users
  "List CRM users, a page at a time."
  {:visibility :discoverable}
  [page]
  (tool/call {:server "crm" :tool "list_users" :args {:limit page-size :offset (* page page-size)}}))
