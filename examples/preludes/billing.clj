(ns billing
  "What customers owe."
  (:require [crm :as c]
            [money :as m]))

(defn owed
  "What a customer owes with tax, as text. Fails for an unknown customer."
  [id]
  (let [user (c/get-user! id)]
    (m/show (m/with-tax (:cents user) (:country user)))))
